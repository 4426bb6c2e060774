#include "engine/ops/unary_op.h"

#include <optional>

#include "engine/array/bfloat16.h"
#include "engine/autograd/backward.h"
#include "engine/base/parallel.h"
#include "engine/base/precision.h"
#include "engine/base/profile.h"

namespace inkling {
namespace {

// f(x), in x's own memory if nothing else holds it.
template <class T>
Array<T> map_given(Tensor<T> x, const SavedRow<T>& f) {
    if (!x.value().is_contiguous() || x.value().shares_buffer()) {
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

}  // namespace

// What backward needs of x or y: the array, the array rounded to bfloat16, or nothing.
template <class T>
class SavedInput {
  public:
    SavedInput() = default;
    explicit SavedInput(const ConstArray<T>& x, bool rounded = false) {
        if constexpr (std::is_same_v<T, float>) {
            if (rounded && product_precision() == Precision::bf16 && x.size() * sizeof(T) >= kWorthRecomputing) {
                half_ = round_to_bfloat16(x);
                return;
            }
        }
        full_ = Saved<T>(x);
    }

    Array<T> map(const SavedRow<T>& f) const {  // f(x)
        if (half_) return map_pieces(Array<T>(half_->shape()), f, ConstArray<T>());
        const ConstArray<T>* const in[] = {&*full_};
        return map_rows<T>(full_->shape(), in, f);
    }

    Array<T> map(const SavedRow<T>& f, const Array<T>& dy) const {  // f(dy, x), in dy's own memory where it may be
        if (can_overwrite(dy)) return map_pieces(dy, f, dy);
        if (half_) return map_pieces(Array<T>(dy.shape()), f, dy.contiguous());
        const ConstArray<T>& g = dy;
        const ConstArray<T>* const in[] = {&g, full_->defined() ? &*full_ : &g};
        return map_rows<T>(dy.shape(), in, f);
    }

  private:
    // In short pieces, which stay in L1 when they are widened; g may be undefined, or y itself.
    Array<T> map_pieces(Array<T> y, const SavedRow<T>& f, const ConstArray<T>& g) const {
        constexpr std::size_t kPiece = 1024;
        const ConstArray<T> x = half_ ? ConstArray<T>() : full_->defined() ? full_->contiguous() : g;
        T* const to = y.data();
        profile::count_bytes(static_cast<double>((g.size() + 2 * y.size()) * sizeof(T)));
        parallel_for(
            y.size(), kGrain,
            [&](std::size_t begin, std::size_t end) {
                alignas(64) T wide[kPiece];
                for (std::size_t i = begin; i < end; i += kPiece) {
                    const std::size_t n = std::min(kPiece, end - i);
                    if constexpr (std::is_same_v<T, float>) {
                        for (std::size_t j = 0; half_ && j < n; ++j) wide[j] = widen(half_->data()[i + j]);
                    }
                    const T* const saved = half_ ? wide : x.data() + i;
                    const T* const in[] = {g.defined() ? g.data() + i : saved, saved};
                    f(n, to + i, in);
                }
            },
            kLine);
        return y;
    }

    Saved<T> full_;
    std::optional<Array<BFloat16>> half_;
};

template <class T>
Tensor<T> unary_op_of_rows(const char* op, Tensor<T> x, Saves saves, SavedRow<T> value, SavedRow<T> gradient) {
    check_defined(op, x);
    if (!x.requires_grad() || NoGrad::active()) {
        if (DetectAnomaly::active()) detect::note_input(x);
        return record<T>(op, map_given(std::move(x), value), {}, nullptr);
    }
    SavedInput<T> saved;
    if (saves == Saves::input || saves == Saves::rounded_input)
        saved = SavedInput<T>(x.value(), saves == Saves::rounded_input);
    auto nodes = inputs(x);
    Array<T> y = map_given(std::move(x), value);
    if (saves == Saves::output) saved = SavedInput<T>(y);
    const Tensor<T> result =
        record(op, std::move(y), std::move(nodes),
               [saved, gradient](const Array<T>& dy, Gradients<T>& grads) { grads.add(0, saved.map(gradient, dy)); });
    if (saves == Saves::rounded_input) can_recompute(result, [saved, value] { return saved.map(value); });
    return result;
}

template Tensor<float> unary_op_of_rows(const char*, Tensor<float>, Saves, SavedRow<float>, SavedRow<float>);
template Tensor<double> unary_op_of_rows(const char*, Tensor<double>, Saves, SavedRow<double>, SavedRow<double>);

}  // namespace inkling
