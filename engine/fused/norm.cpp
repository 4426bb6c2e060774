// Both norms, with r = 1 / sqrt(variance + eps) and xhat = (x - mean) r; rms_norm has mean 0:
//   y = xhat gain + bias
//   dx = r (g - mean(g) - xhat mean(g xhat)), g = dy gain      (rms_norm: without the term mean(g))
//   dgain = sum over rows of dy xhat,  dbias = sum over rows of dy
#include "engine/fused/norm.h"

#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/profile.h"
#include "engine/kernels/add_row.h"
#include "engine/kernels/norm_row.h"
#include "engine/memory/buffer_pool.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/plain/plain.h"
#include "engine/ops/reduce/reduce.h"

namespace inkling {
namespace {

constexpr std::size_t kRows = 32;  // in a chunk of the sums dgain and dbias

template <class T>
struct RowNorm {
    std::size_t rows, width;
    bool centered;  // layer_norm subtracts the mean
    double eps;
    Saved<T> x, gain, mean, scale;
    bool has_gain;

    void operator()(const Array<T>& dy, Gradients<T>& grads) const;
    void operator()(const Tensor<T>& dy, Gradients<T>& grads) const {
        grads.add_through(dy, [&] {
            const Tensor<T> in = grads.in(0, *x), weight = has_gain ? grads.in(1, *gain) : Tensor<T>();
            if (!centered) return plain::rms_norm(in, weight, eps);
            const Array<T> zero(Shape{width}, T{0});  // the value of the bias does not matter
            return plain::layer_norm(in, weight, grads.wanted(2) ? grads.in(2, zero) : Tensor<T>(), eps);
        });
    }
};

// Sets dx to the gradient of a row, or adds it if `accumulate`; `g` has room for a row.
template <class T>
void backward_row(const RowNorm<T>& norm, const T* x, const T* dy, const T* gain, T mu, T r, T* dx, bool accumulate,
                  T* g, T* dgain, T* dbias) {
    const std::size_t n = norm.width;
    const Vec<T> vmu(mu), vr(r);
    if (dgain) {
        simd_map(n, dgain, {dgain, dy, x},
                 [=](auto acc, auto d, auto v) { return multiply_add(d * (v - vmu), vr, acc); });
        if (dbias) add_row(n, dbias, dy);
    }
    if (!dx) return;
    simd_map(n, g, {dy, gain}, [](auto d, auto w) { return d * w; });
    const T inverse = T{1} / static_cast<T>(n);
    const Vec<T> mean_g(norm.centered ? simd_sum(n, g) * inverse : T{0});
    const Vec<T> mean_gx(
        simd_sum(n, {g, x}, [=](auto sum, auto d, auto v) { return multiply_add(d, (v - vmu) * vr, sum); }) * inverse);
    const auto gradient = [=](auto d, auto v) { return vr * (d - mean_g - (v - vmu) * vr * mean_gx); };
    if (accumulate) {
        simd_map(n, dx, {dx, g, x}, [=](auto old, auto d, auto v) { return old + gradient(d, v); });
    } else {
        simd_map(n, dx, {g, x}, gradient);
    }
}

template <class T>
void RowNorm<T>::operator()(const Array<T>& dy_any, Gradients<T>& grads) const {
    const Array<T> dy = dy_any.contiguous();
    profile::count_bytes(static_cast<double>(3 * dy.size() * sizeof(T)));
    const ConstArray<T> weight = has_gain ? *gain : ConstArray<T>(Array<T>({width}, T{1}));
    const bool want_dx = grads.wanted(0), want_gain = grads.wanted(1), want_bias = centered && grads.wanted(2);
    const T *const px = x->data(), *const pmean = mean->data(), *const pscale = scale->data();
    Array<T> sums;  // dgain, followed by dbias if wanted
    const auto run = [&](Array<T>& dx, bool accumulate) {
        const auto row = [&](std::size_t i, T* dgain) {
            auto* const g = static_cast<T*>(thread_memory(width * sizeof(T)));
            backward_row(*this, px + i * width, dy.data() + i * width, weight.data(), pmean[i], pscale[i],
                         want_dx ? dx.data() + i * width : nullptr, accumulate, g, dgain,
                         want_bias ? dgain + width : nullptr);
        };
        if (want_gain || want_bias)
            sums = sum_of_rows<T>(rows, want_bias ? 2 * width : width, kRows, row);
        else
            each_row(rows, width, [&](std::size_t i) { row(i, nullptr); });
    };
    Array<T> none;
    want_dx ? grads.accumulate_into(0, run) : run(none, false);
    if (want_gain) grads.add(1, sums.sliced(0, 0, width));
    if (want_bias) grads.add(2, sums.sliced(0, width, 2 * width));
}

// (x - mean) scale gain + bias, row by row, after prepare(row of x, r) has set mean and scale of row r.
template <class T>
Array<T> normalized(const ConstArray<T>& x, const ConstArray<T>& gain, const ConstArray<T>& bias,
                    const ConstArray<T>& mean, const ConstArray<T>& scale,
                    FunctionRef<void(const T* x, std::size_t r)> prepare) {
    const std::size_t width = x.dim(-1), rows = x.size() / width;
    profile::count_bytes(static_cast<double>(2 * x.size() * sizeof(T)));
    Array<T> y(x.shape());
    const T *const w = gain.defined() ? gain.data() : nullptr, *const b = bias.defined() ? bias.data() : nullptr;
    T* const py = y.data();
    each_row(rows, width, [&](std::size_t r) {
        const T* const in = x.data() + r * width;
        prepare(in, r);
        normalize_row(width, in, {mean.data()[r], scale.data()[r]}, w, b, py + r * width);
    });
    return y;
}

template <class T>
Tensor<T> normalize(const char* op, const Tensor<T>& x_any, const Tensor<T>& gain, const Tensor<T>& bias, double eps,
                    bool centered) {
    check_defined(op, x_any);
    check(x_any.rank() > 0 && x_any.dim(-1) > 0, "{}: the last axis must not be empty, got shape {}", op,
          x_any.shape());
    const std::size_t width = x_any.dim(-1), rows = x_any.size() / width;
    for (const Tensor<T>* parameter : {&gain, &bias}) {
        check(!parameter->defined() || parameter->shape() == Shape{width},
              "{}: gain and bias must have the size of the last axis, got {} for {}", op, parameter->shape(),
              x_any.shape());
    }
    const ConstArray<T> x = x_any.value().contiguous(), weight = gain.value().contiguous(),
                        shift = bias.value().contiguous();
    Array<T> mean({rows}, T{0}), scale({rows});
    T *const pmean = mean.data(), *const pscale = scale.data();
    Array<T> y = normalized<T>(x, weight, shift, mean, scale, [=](const T* in, std::size_t r) {
        const RowMoments<T> moments = row_moments(width, in, centered, static_cast<T>(eps));
        pmean[r] = moments.mean, pscale[r] = moments.scale;
    });
    const RowNorm<T> norm{rows,          width,       centered,     eps,           Saved(x),
                          Saved(weight), Saved(mean), Saved(scale), gain.defined()};
    const Tensor<T> result = record(op, std::move(y), inputs(x_any, gain, bias), norm);
    can_recompute(result, [norm, shift = Saved(shift)] {
        return normalized<T>(*norm.x, *norm.gain, *shift, *norm.mean, *norm.scale, [](const T*, std::size_t) {});
    });
    return result;
}

}  // namespace

template <class T>
Tensor<T> layer_norm(const Tensor<T>& x, const Tensor<T>& gain, const Tensor<T>& bias, double eps) {
    check(gain.defined() || !bias.defined(), "layer_norm: a bias needs a gain beside it");
    return normalize("layer_norm", x, gain, bias, eps, true);
}

template <class T>
Tensor<T> rms_norm(const Tensor<T>& x, const Tensor<T>& gain, double eps) {
    return normalize("rms_norm", x, gain, Tensor<T>(), eps, false);
}

INKLING_BOTH_TYPES(layer_norm<T>, rms_norm<T>);

}  // namespace inkling
