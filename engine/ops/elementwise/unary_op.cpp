#include "engine/ops/elementwise/unary_op.h"

#include "engine/autograd/op_gradients.h"
#include "engine/base/parallel.h"
#include "engine/base/profile.h"
#include "engine/ops/shape/shape.h"
#include "engine/weights/operand.h"

namespace inkling {
namespace {

// f(x), in x's own memory if nothing else holds it.
template <class T>
Array<T> map_given(Tensor<T> x, const SavedRow<T>& f) {
    if (!x.value().can_overwrite()) {
        const ConstArray<T>* const in[] = {&x.value()};
        return map_rows<T>(x.shape(), in, f);
    }
    Array<T> y = x.value_in_place();
    profile::count_bytes(static_cast<double>(2 * y.size() * sizeof(T)));
    parallel_for(
        y.size(), kGrain,
        [&f, data = y.data()](std::size_t begin, std::size_t end) {
            const T* const in = data + begin;
            f(end - begin, data + begin, &in);
        },
        kLine);
    return y;
}

// y = f(g, saved), or f(saved) if g is undefined, in short pieces that stay in L1 when widened. g may be y itself, and
// replaces the saved value if nothing is saved.
template <class T>
Array<T> map_pieces(const Operand<T>& saved, Array<T> y, MapRow<T> f, const ConstArray<T>& g) {
    constexpr std::size_t kPiece = 1024;
    const auto& half = saved.half();
    const ConstArray<T> x = half ? ConstArray<T>() : saved.full().defined() ? saved.full().contiguous() : g;
    T* const to = y.data();
    profile::count_bytes(static_cast<double>((g.size() + 2 * y.size()) * sizeof(T)));
    parallel_for(
        y.size(), kGrain,
        [&](std::size_t begin, std::size_t end) {
            alignas(64) T wide[kPiece];
            for (std::size_t i = begin; i < end; i += kPiece) {
                const std::size_t n = std::min(kPiece, end - i);
                if constexpr (std::is_same_v<T, float>) {
                    for (std::size_t j = 0; half && j < n; ++j) wide[j] = widen(half->data()[i + j]);
                }
                const T* const own = half ? wide : x.data() + i;
                const T* const in[] = {g.defined() ? g.data() + i : own, own};
                f(n, to + i, in);
            }
        },
        kLine);
    return y;
}

template <class T>
Array<T> map_saved(const Operand<T>& saved, MapRow<T> f) {  // f(saved)
    if (saved.half()) return map_pieces(saved, Array<T>(saved.half()->shape()), f, ConstArray<T>());
    const ConstArray<T>* const in[] = {&saved.full()};
    return map_rows<T>(saved.full().shape(), in, f);
}

// f(dy, saved), in dy's own memory if possible
template <class T>
Array<T> map_saved(const Operand<T>& saved, MapRow<T> f, const Array<T>& dy) {
    if (dy.can_overwrite()) return map_pieces<T>(saved, dy, f, dy);
    if (saved.half()) return map_pieces<T>(saved, Array<T>(dy.shape()), f, dy.contiguous());
    const ConstArray<T>& g = dy;
    const ConstArray<T>* const in[] = {&g, saved.full().defined() ? &saved.full() : &g};
    return map_rows<T>(dy.shape(), in, f);
}

// The gradient as a closure of record(): in both forms, by the formula for rows and for tensors.
template <class T>
struct UnaryGradient {
    Operand<T> saved;
    GradientRow<T> gradient;
    Saves saves;

    void operator()(const Tensor<T>& dy, Gradients<T>& grads) const {
        const Tensor<T> own = saves == Saves::nothing  ? dy
                              : saves == Saves::output ? grads.out(saved.values())
                                                       : grads.in(0, saved.values());
        Tensor<T> both[] = {dy, own};
        gradient(0, nullptr, nullptr, both);
        grads.add(0, both[0]);
    }
    void operator()(const Array<T>& dy, Gradients<T>& grads) const {
        const auto row = [&](std::size_t n, T* out, const T* const* in) { gradient(n, out, in, nullptr); };
        grads.add(0, map_saved<T>(saved, row, dy));
    }
};

}  // namespace

template <class T>
Tensor<T> unary_op_of_rows(const char* op, Tensor<T> x, Saves saves, SavedRow<T> value, GradientRow<T> gradient) {
    check_defined(op, x);
    if (!x.requires_grad() || NoGrad::active()) {
        auto in = inputs(x);
        return record_op<T>(op, map_given(std::move(x), value), std::move(in), nullptr);
    }
    Operand<T> saved;
    if (saves == Saves::rounded_input && x.size() * sizeof(T) >= kWorthRecomputing) {
        saved = Operand<T>::rounded(x.value());
    } else if (saves == Saves::input || saves == Saves::rounded_input) {
        saved = Operand<T>(x.value());
    }
    auto nodes = inputs(x);
    Array<T> y = map_given(std::move(x), value);
    if (saves == Saves::output) saved = Operand<T>(y);
    const Tensor<T> result =
        record(op, std::move(y), std::move(nodes), UnaryGradient<T>{saved, std::move(gradient), saves});
    if (saves == Saves::rounded_input) can_recompute(result, [saved, value] { return map_saved<T>(saved, value); });
    return result;
}

template Tensor<float> unary_op_of_rows(const char*, Tensor<float>, Saves, SavedRow<float>, GradientRow<float>);
template Tensor<double> unary_op_of_rows(const char*, Tensor<double>, Saves, SavedRow<double>, GradientRow<double>);

}  // namespace inkling
