// How an op joins the graph: what it saves for its gradient, and record(), in which every op ends.
//   return record("exp", y, inputs(x), [y = Saved(y)](const Tensor<T>& dy, Gradients<T>& grads) { ... });
#pragma once

#include <algorithm>
#include <concepts>

#include "engine/autograd/debug/anomaly.h"
#include "engine/autograd/tensor.h"

namespace inkling {

// An array that backward will need, with its current version. get() throws if it was written to since.
template <class T>
class Saved {
  public:
    Saved() = default;
    explicit Saved(ConstArray<T> array) : array_(std::move(array)), version_(array_.version()) {}
    template <std::same_as<T> F>
    explicit Saved(const Tensor<F>& tensor) : Saved(tensor.value()) {}
    const ConstArray<T>& get() const;
    const ConstArray<T>& operator*() const { return get(); }
    const ConstArray<T>* operator->() const { return &get(); }

  private:
    ConstArray<T> array_;
    std::uint32_t version_ = 0;
};
template <class T>
Saved(const Array<T>&) -> Saved<T>;
template <class T>
Saved(const Tensor<T>&) -> Saved<T>;

// Saves `needed` for the gradient of x; undefined if x wants no gradient.
template <class T>
Saved<T> saved_for(const Tensor<T>& x, const ConstArray<std::type_identity_t<T>>& needed) {
    return x.requires_grad() ? Saved<T>(needed) : Saved<T>();
}

// The inputs of an op, for record().
template <class T>
struct OpInputs {
    std::vector<NodePtr<T>> nodes;
    std::vector<detect::Input> seen;  // while anomalies are looked for

    void add(const Tensor<T>& x) {
        nodes.push_back(x.node());
        if (DetectAnomaly::active()) detect::note_input(x, seen);
    }
    bool wanted() const {  // whether any input wants a gradient
        return !NoGrad::active() &&
               std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return node != nullptr; });
    }
};

template <class T, class... Tensors>
OpInputs<T> inputs(const Tensor<T>& first, const Tensors&... others) {
    OpInputs<T> all;
    all.nodes.reserve(1 + sizeof...(others));
    all.add(first), (all.add(others), ...);
    return all;
}

// Makes the output, with a node if `gradient` is given. Only record() calls it.
template <class T>
Tensor<T> record_op(const char* op, ConstArray<T>&& value, OpInputs<T>&& in,
                    std::unique_ptr<const OpGradient<T>> gradient);

// One function object with the call operators of several closures, which take different arguments.
template <class... Fs>
struct both_ways : Fs... {
    template <class... Gs>
    requires(sizeof...(Gs) == sizeof...(Fs) &&
             !(std::same_as<std::remove_cvref_t<Gs>, both_ways> || ...)) explicit both_ways(Gs&&... closures)
        : Fs(std::forward<Gs>(closures))... {}
    using Fs::operator()...;
};
template <class... Gs>
both_ways(Gs&&...) -> both_ways<std::remove_cvref_t<Gs>...>;

template <class T, class F>
struct ClosureGradient final : OpGradient<T> {
    static constexpr bool kOps = std::is_invocable_v<const F&, const Tensor<T>&, Gradients<T>&>;
    static constexpr bool kArrays = std::is_invocable_v<const F&, const Array<T>&, Gradients<T>&>;

    template <class... Gs>
    explicit ClosureGradient(Gs&&... closures) : f(std::forward<Gs>(closures)...) {
        this->has_ops = kOps, this->has_arrays = kArrays;
    }
    void by_ops(const Tensor<T>& dy, Gradients<T>& grads) const override {
        if constexpr (kOps) f(dy, grads);
    }
    void by_arrays(const Array<T>& dy, Gradients<T>& grads) const override {
        if constexpr (kArrays) f(dy, grads);
    }

    F f;
};

// Every op ends here: makes the output, with a node if any input wants a gradient. `gradient`, of one closure or two,
// is called with (dy, grads): dy is a tensor, and the results have a graph, or an array, which is fast: see
// engine/autograd/op_gradients.h. Without the first form, the op cannot be differentiated twice.
template <class T, class... Fs>
Tensor<T> record(const char* op, ConstArray<std::type_identity_t<T>> value, OpInputs<T> in, Fs&&... gradient) {
    using Closure = ClosureGradient<T, both_ways<std::remove_cvref_t<Fs>...>>;
    static_assert(Closure::kOps || Closure::kArrays,
                  "record: a gradient takes (const Tensor<T>& dy, Gradients<T>& grads) or (const Array<T>& dy, ...)");
    std::unique_ptr<const OpGradient<T>> kept;
    if (in.wanted()) kept = std::make_unique<const Closure>(std::forward<Fs>(gradient)...);
    return record_op<T>(op, std::move(value), std::move(in), std::move(kept));
}

extern template class Saved<float>;
extern template class Saved<double>;

}  // namespace inkling
