// Custom ops written in Python over NumPy arrays; tensors from and to safetensors files.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <set>

#include "engine/autograd/op_gradients.h"
#include "formats/safetensors/safetensors.h"
#include "python/bind/bind.h"
#include "python/bind/cycles.h"

namespace inkling::python {
namespace {

// Copies a Python array into a value or gradient.
template <class T>
Array<T> copy_of(nb::handle array, const char* op) {
    return tensor_over(array, kDType<T>, false).template as<T>(op).value().clone();
}

// Records an op with this value; its backward(dy) returns a gradient or None for each input.
template <class T>
AnyTensor record_custom(const char* op, nb::handle value, const std::vector<AnyTensor>& all,
                        nb::callable given_backward) {
    OpInputs<T> nodes;
    std::vector<Saved<T>> in;
    for (const AnyTensor& x : all) {
        const Tensor<T>& t = x.as<T>(op);
        nodes.add(t);
        in.emplace_back(t);
    }
    const KeptFunction backward(std::move(given_backward));
    const auto gradient = [op, in, backward](const Array<T>& dy, Gradients<T>& grads) {
        for (const Saved<T>& x : in) x.get();  // throws if it was written to since
        std::vector<Array<T>> returned(in.size());
        {
            const nb::gil_scoped_acquire interpreter;
            const nb::object given = backward(numpy_view<T>(dy));
            for (std::size_t i = 0; i < in.size(); ++i) {
                if (!grads.wanted(i)) continue;
                const Shape& shape = in[i]->shape();
                const nb::object own = given[i];
                returned[i] = own.is_none() ? Array<T>(shape, T{0}) : copy_of<T>(own, op);
                check(returned[i].shape() == shape,
                      "{}: backward returned a gradient of shape {} for an input of shape {}", op, returned[i].shape(),
                      shape);
            }
        }
        for (std::size_t i = 0; i < in.size(); ++i) grads.add(i, std::move(returned[i]));  // may wait for a leaf
    };
    const Tensor<T> y = record<T>(op, copy_of<T>(value, op), std::move(nodes), gradient);
    backward.belong_to(y.node().get());
    return AnyTensor(y);
}

void save_tensors(const std::filesystem::path& path, const std::map<std::string, AnyTensor>& tensors) {
    formats::SafetensorsWriter out;
    out.set_metadata("format", "pt");
    std::vector<std::shared_ptr<const void>> kept;  // alive until write()
    for (const auto& [name, tensor] : tensors) {
        visit(tensor, [&, &n = name]<class T>(const Tensor<T>& x) {
            const auto dense = std::make_shared<ConstArray<T>>(x.value().contiguous());
            out.add(n, sizeof(T) == 4 ? formats::DType::F32 : formats::DType::F64,
                    std::vector<std::uint64_t>(x.shape().begin(), x.shape().end()), dense->data());
            kept.push_back(dense);
        });
    }
    out.write(path);
}

std::map<std::string, AnyTensor> load_tensors(const std::filesystem::path& path) {
    const auto file = formats::SafetensorsFile::open(path);
    std::map<std::string, AnyTensor> all;
    for (const auto& [name, stored] : file.tensors()) {
        if (!stored.layout->widen) continue;  // no floats
        with_type(stored.layout->name == "F64" ? DType::float64 : DType::float32, [&, &from = stored]<class T>() {
            Array<T> values(Shape(from.shape.begin(), from.shape.end()));
            from.read(values.data(), values.size());
            all.emplace(from.name, AnyTensor(Tensor<T>(ConstArray<T>(values))));
        });
    }
    return all;
}

}  // namespace

void bind_custom(nb::module_& m) {
    m.def(
        "_record",
        [](const std::string& name, const ArrayLike& value, const std::vector<AnyTensor>& in, nb::callable backward) {
            if (in.empty()) throw_as(nb::type_error, "{}: at least one tensor is required", name);
            static std::set<std::string> names;  // graphs keep pointers to names
            const char* const op = names.insert(name).first->c_str();
            return with_type(in[0].dtype(), [&]<class T>() { return record_custom<T>(op, value, in, backward); });
        },
        "name"_a, "value"_a, "inputs"_a, "backward"_a);
    m.def("save_tensors", &save_tensors, "path"_a, "tensors"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Writes {name: tensor} to a safetensors file.");
    m.def(
        "load_tensors", &load_tensors, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Reads the floating-point tensors of a safetensors file as {name: tensor}: F64 as float64, others as float32.");
}

}  // namespace inkling::python
