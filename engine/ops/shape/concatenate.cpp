//   concatenate, stack    each part's gradient is its slice of dy
#include "engine/ops/shape/concatenate.h"

#include "engine/array/axes.h"
#include "engine/autograd/op_gradients.h"
#include "engine/ops/shape/shape.h"

namespace inkling {

template <class T>
Tensor<T> concatenate(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis) {
    check(!parts.empty(), "concatenate: at least one tensor is required");
    for (const auto& part : parts) check_defined("concatenate", part);
    const std::size_t k = normalize_axis("concatenate", axis, parts[0].rank());
    Shape shape = parts[0].shape();
    shape[k] = 0;
    OpInputs<T> in;
    std::vector<std::size_t> ends;
    for (const auto& part : parts) {
        Shape expected = shape;
        if (part.rank() == shape.size()) expected[k] = part.shape()[k];
        check(part.shape() == expected, "concatenate: shapes must agree but on axis {}, got {} and {}", k,
              parts[0].shape(), part.shape());
        shape[k] += part.shape()[k];
        ends.push_back(shape[k]);
        in.add(part);
    }
    Array<T> y(shape);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Array<T> place = y.sliced(axis, i ? ends[i - 1] : 0, ends[i]);
        copy_into(place, parts[i].value());
    }
    const auto cut = [ends, axis](const Tensor<T>& dy, Gradients<T>& grads) {
        for (std::size_t i = 0; i < ends.size(); ++i) grads.add(i, slice(dy, axis, i ? ends[i - 1] : 0, ends[i]));
    };
    return saves_nothing(record("concatenate", std::move(y), std::move(in), cut));
}

template <class T>
Tensor<T> stack(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis) {
    check(!parts.empty(), "stack: at least one tensor is required");
    for (const auto& part : parts) check_defined("stack", part);
    const std::size_t k = normalize_axis("stack", axis, parts[0].rank() + 1);
    std::vector<Tensor<T>> wide;
    for (const auto& part : parts) {
        check(part.shape() == parts[0].shape(), "stack: shapes must be equal, got {} and {}", parts[0].shape(),
              part.shape());
        Shape shape = part.shape();
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(k), 1);
        wide.push_back(reshape(part, shape));
    }
    return concatenate(wide, static_cast<std::ptrdiff_t>(k));
}

template Tensor<float> concatenate(const std::vector<Tensor<float>>&, std::ptrdiff_t);
template Tensor<double> concatenate(const std::vector<Tensor<double>>&, std::ptrdiff_t);
template Tensor<float> stack(const std::vector<Tensor<float>>&, std::ptrdiff_t);
template Tensor<double> stack(const std::vector<Tensor<double>>&, std::ptrdiff_t);

}  // namespace inkling
