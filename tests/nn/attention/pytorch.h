// Compares the attention family with PyTorch: tests/reference/attention/, made by
// tests/reference/make_attention_reference.py. A case holds inputs, results, cotangents and the gradients of every
// input and parameter; compare() checks them all.
#pragma once

#include "formats/safetensors/safetensors.h"
#include "models/files/state_dict.h"
#include "nn/attention/masks.h"
#include "nn/attention/scaled_dot_product.h"
#include "tests/nn/attention/compare.h"

namespace inkling::testing {

// Of an element, relative to the larger of itself and its array's root mean square.
template <class T>
inline constexpr double kTolerance = std::is_same_v<T, double> ? 1e-10 : 1e-5;

inline std::string attention_file(const std::string& name) {
    return tests_path("reference/attention/" + name + ".safetensors");
}

// One case of numbers.safetensors. Arrays that it does not hold are undefined.
class Case {
  public:
    explicit Case(std::string name) : name_(std::move(name)), file_(numbers()) {}

    const std::string& name() const { return name_; }
    bool has(const std::string& key) const { return file_.contains(name_ + "." + key); }

    template <class T>
    Array<T> array(const std::string& key) const {
        return read<T, T>(key);
    }
    template <class T>
    Tensor<T> input(const std::string& key) const {
        return Tensor<T>(array<T>(key), true);
    }
    MaskArray mask() const { return has("mask") ? read<std::uint8_t, std::uint8_t>("mask") : MaskArray(); }
    nn::ValidLengths valid_lens() const {
        return has("valid_lens") ? read<std::int32_t, std::int64_t>("valid_lens") : nn::ValidLengths();
    }

  private:
    static const formats::SafetensorsFile& numbers() {
        static const auto file = formats::SafetensorsFile::open(attention_file("numbers"));
        return file;
    }
    template <class T, class Stored>
    Array<T> read(const std::string& key) const {
        const auto& from = file_.tensor(name_ + "." + key);
        std::vector<Stored> stored(from.count);
        if constexpr (std::is_floating_point_v<Stored>)
            from.read(stored.data(), stored.size());
        else
            std::memcpy(stored.data(), from.bytes.data(), from.bytes.size());
        Array<T> a(Shape(from.shape.begin(), from.shape.end()));
        std::copy(stored.begin(), stored.end(), a.data());
        return a;
    }

    std::string name_;
    const formats::SafetensorsFile& file_;
};

template <class T>
using Named = std::map<std::string, Tensor<T>>;

// The case's inputs of these names.
template <class T>
Named<T> inputs_of(const Case& numbers, const std::vector<std::string>& names) {
    Named<T> in;
    for (const auto& name : names) in.emplace(name, numbers.input<T>(name));
    return in;
}

// Compares f(inputs) with the case: output, weights if f returns them, and the gradients of inputs and parameters.
template <class T, class F>
void compare(const Case& numbers, Named<T> in, nn::Module<T>* module, const F& f) {
    INFO("case " << numbers.name());
    nn::AttentionOutput<T> result;
    if constexpr (std::is_same_v<decltype(f(in)), Tensor<T>>)
        result.output = f(in);
    else
        result = f(in);
    check_close(result.output.value(), numbers.array<double>("output"), kTolerance<T>, "output");
    Tensor<T> loss = sum(mul(result.output, Tensor<T>(numbers.array<T>("dy"))));
    if (result.weights.defined()) {
        check_close(result.weights.value(), numbers.array<double>("weights"), kTolerance<T>, "weights");
        if (numbers.has("dw")) loss = loss + sum(mul(result.weights, Tensor<T>(numbers.array<T>("dw"))));
    }
    if (module) module->zero_grad();
    backward(loss);
    if (module)
        for (const auto& [name, p] : module->parameters()) in.emplace(name, p);
    for (const auto& [name, x] : in)
        check_gradient(x.grad(), numbers.array<double>("grad." + name), kTolerance<T>, "gradient of " + name);
}

template <class T, class F>
void compare(const std::string& name, const std::vector<std::string>& in, const F& f) {
    const Case numbers(name);
    compare<T>(numbers, inputs_of<T>(numbers, in), nullptr, f);
}

// Compares a module whose state dict was saved under `state`.
template <class T, class F>
void compare(const std::string& name, const std::string& state, nn::Module<T>& module,
             const std::vector<std::string>& in, const F& f) {
    models::load_state_dict(module, attention_file(state));
    const Case numbers(name);
    compare<T>(numbers, inputs_of<T>(numbers, in), &module, f);
}

}  // namespace inkling::testing
