#include "engine/ops/elementwise/unary_op.h"

#include "engine/autograd/op_gradients.h"
#include "engine/base/parallel.h"
#include "engine/base/profile.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

// f(x), in x's own memory if nothing else holds it.
template <class T>
Array<T> map_given(Tensor<T> x, const SavedRow<T>& f) {
    const ConstArray<T>* const in[] = {&x.value()};
    return map_rows<T>(x.shape(), in, f, x.value().can_overwrite() ? x.value_in_place() : Array<T>());
}

// f(g, saved), or f(saved) if g is undefined, in short pieces that stay in L1 when widened. y may be g itself.
Array<float> map_bfloat16(const ConstArray<BFloat16>& saved, Array<float> y, MapRow<float> f,
                          const ConstArray<float>& g) {
    float* const to = y.data();
    profile::count_bytes(static_cast<double>((g.size() + 2 * y.size()) * sizeof(float)));
    parallel_pieces(y.size(), [&, from = saved.data()](std::size_t begin, std::size_t end) {
        alignas(64) float wide[kPiece];
        for (std::size_t i = begin; i < end; ++i) wide[i - begin] = widen(from[i]);
        const float* const in[] = {g.defined() ? g.data() + begin : wide, wide};
        f(end - begin, to + begin, in);
    });
    return y;
}

// f(dy, saved), in dy's own memory if possible; or f(saved), if dy is undefined.
template <class T>
Array<T> map_saved(const Operand<T>& saved, MapRow<T> f, const Array<T>& dy = {}) {
    const Array<T> out = dy.can_overwrite() ? dy : Array<T>();
    if constexpr (std::is_same_v<T, float>) {
        if (const auto& own = saved.bfloat16())
            return map_bfloat16(*own, out.defined() ? out : Array<T>(own->shape()), f, dy.contiguous());
    }
    const ConstArray<T>& g = dy;
    const ConstArray<T>* const own = saved.full().defined() ? &saved.full() : &g;
    const ConstArray<T>* const in[] = {g.defined() ? &g : own, own};
    return map_rows<T>(own->shape(), in, f, out);
}

}  // namespace

template <class T>
ConstArray<T> UnaryAgain<T>::operator()() const {
    return map_saved<T>(saved, value);
}

template <class T>
Tensor<T> unary_op_of_rows(const char* op, Tensor<T> x, Saves saves, SavedRow<T> value, GradientRow<T> gradient) {
    check_defined(op, x);
    if (!x.requires_grad() || NoGrad::active()) {
        auto in = inputs(x);
        return record_op<T>(op, ConstArray<T>(map_given(std::move(x), value)), std::move(in), nullptr);
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
    const auto by_tensors = [saved, gradient, saves](const Tensor<T>& dy, Gradients<T>& grads) {
        const Tensor<T> own = saves == Saves::nothing  ? dy
                              : saves == Saves::output ? grads.out(saved.values())
                                                       : grads.in(0, saved.values());
        Tensor<T> both[] = {dy, own};
        gradient(0, nullptr, nullptr, both);
        grads.add(0, both[0]);
    };
    const auto by_rows = [saved, gradient](const Array<T>& dy, Gradients<T>& grads) {
        const auto row = [&](std::size_t n, T* out, const T* const* in) { gradient(n, out, in, nullptr); };
        grads.add(0, map_saved<T>(saved, row, dy));
    };
    const Tensor<T> result = record(op, std::move(y), std::move(nodes), by_tensors, by_rows);
    if (saves == Saves::input || saves == Saves::rounded_input) can_recompute(result, UnaryAgain<T>{saved, value});
    return result;
}

template Tensor<float> unary_op_of_rows(const char*, Tensor<float>, Saves, SavedRow<float>, GradientRow<float>);
template Tensor<double> unary_op_of_rows(const char*, Tensor<double>, Saves, SavedRow<double>, GradientRow<double>);

}  // namespace inkling
