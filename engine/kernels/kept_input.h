// The input of an activation function, kept for its backward and for making its value again. Where it is large and
// products are in bfloat16 it is kept rounded: the function's value is rounded for the next product anyway.
#pragma once

#include <optional>

#include "engine/backward.h"
#include "engine/bfloat16.h"
#include "engine/kernels/simd.h"
#include "engine/parallel.h"
#include "engine/precision.h"
#include "engine/profile.h"

namespace inkling {

// f(x), element by element; in x's own memory if the caller has given it up and nothing else holds it.
template <class T, class F>
Array<T> map_given(Tensor<T> x, const F& f) {
    const bool dense = x.value().is_contiguous();
    Array<T> y = !dense ? x.value().clone() : x.value().shares_buffer() ? Array<T>(x.shape()) : x.value_in_place();
    const T* const in = dense ? x.value().data() : y.data();
    profile::count_bytes(static_cast<double>(2 * y.size() * sizeof(T)));
    T* const out = y.data();
    parallel_for(y.size(), kGrain,
                 [&](std::size_t begin, std::size_t end) { simd_map(end - begin, out + begin, f, in + begin); });
    return y;
}

template <class T>
class KeptInput {
  public:
    explicit KeptInput(const Tensor<T>& x) {
        if (!x.requires_grad()) return;
        if constexpr (std::is_same_v<T, float>) {
            if (product_precision() == Precision::bf16 && x.size() * sizeof(T) >= kWorthRecomputing) {
                half_ = round_to_bfloat16(x.value());
                return;
            }
        }
        full_ = Saved<T>(x);
    }

    const Shape& shape() const { return half_ ? half_->shape() : full_->shape(); }

    // f(x), element by element; f takes and returns Vec<T>.
    template <class F>
    Array<T> map(const F& f) const {
        Array<T> y(shape());
        run(y, [&](std::size_t n, T* out, std::size_t, const T* x) { simd_map(n, out, f, x); });
        return y;
    }

    // f(dy, x), in dy's own memory if nothing else holds it.
    template <class F>
    Array<T> map(const Array<T>& dy, const F& f) const {
        const bool own = dy.is_contiguous() && !dy.shares_buffer();
        Array<T> dx = own ? dy : Array<T>(dy.shape());
        const Array<T> g = dy.contiguous();
        run(dx, [&](std::size_t n, T* out, std::size_t at, const T* x) { simd_map(n, out, f, g.data() + at, x); });
        return dx;
    }

  private:
    // body(n, out, index of the first element, x) for pieces of `out`.
    template <class Body>
    void run(Array<T>& out, const Body& body) const {
        constexpr std::size_t kPiece = 1024;
        profile::count_bytes(static_cast<double>(out.size() * 2 * sizeof(T)));
        T* const to = out.data();
        const ConstArray<T> x = half_ ? ConstArray<T>() : full_->contiguous();
        parallel_for(out.size(), kGrain, [&](std::size_t begin, std::size_t end) {
            alignas(64) T wide[kPiece];
            for (std::size_t i = begin; i < end; i += kPiece) {
                const std::size_t n = std::min(kPiece, end - i);
                if constexpr (std::is_same_v<T, float>) {
                    for (std::size_t j = 0; half_ && j < n; ++j) wide[j] = widen(half_->data()[i + j]);
                }
                body(n, to + i, i, half_ ? wide : x.data() + i);
            }
        });
    }

    Saved<T> full_;
    std::optional<Array<BFloat16>> half_;
};

// y = value(x), dx = slope(dy, x), element by element; y can be made again from the kept x.
template <class T, class F, class D>
Tensor<T> activation_of_kept(const char* op, Tensor<T> x, const F& value, const D& slope) {
    const KeptInput<T> kept(x);
    auto nodes = inputs(x);
    const Tensor<T> y =
        record(op, map_given(std::move(x), value), std::move(nodes),
               [kept, slope](const Array<T>& dy, Gradients<T>& grads) { grads.add(0, kept.map(dy, slope)); });
    set_recompute<T>(y, [kept, value] { return kept.map(value); });
    return y;
}

}  // namespace inkling
