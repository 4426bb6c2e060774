//   z = X W^T, a block of the vocabulary (columns of z) at a time;  with a cap, z = c tanh(X W^T / c)
//   forward    running maximum m and sum l = sum_v e^(z_v - m) of each row: when m grows, l shrinks by e^(m_old - m)
//              loss = mean over rows of (m + ln l) - z_target
//   backward   recompute z;  dz = dy / rows (e^(z - m - ln l) - onehot), with a cap times 1 - (z / c)^2
//              dX += dz W     dW's rows of the block = dz^T X
//   frozen W   forward also sums s = sum_v e^(z_v - m) W_v, which shrinks as l does, so z is computed once
//   backward   dX = dy / rows (s / l - W_target), with a cap each term times 1 - (z / c)^2
// Blocks of columns rather than of rows: each part of dW is written once, and W is read as often as z is computed.
#include "engine/fused/linear_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/fused/embedding.h"
#include "engine/fused/linear.h"
#include "engine/kernels/activation_row.h"
#include "engine/kernels/lanes.h"
#include "engine/ops/elementwise/activation.h"
#include "engine/weights/operand.h"

namespace inkling {
namespace {

constexpr std::size_t kLogits = std::size_t{128} << 20;  // bytes of logits that are saved rather than recomputed
constexpr std::size_t kBlock = std::size_t{4} << 20;     // bytes of logits at a time otherwise

// The state of a row: its largest logit so far, the sum of e^(z - top), and the logit of its target.
template <class T>
struct Row {
    T top = -std::numeric_limits<T>::infinity(), sum = 0, target = 0;
};

template <class T>
void take_block(Row<T>& row, const T* z, std::size_t n, std::size_t first, std::int32_t target) {
    const T top = std::max(row.top, simd_max(n, z));
    if (top > -std::numeric_limits<T>::infinity()) {
        const Vec<T> m(top);
        row.sum = row.sum * portable::exp(row.top - top) +
                  simd_sum(n, {z}, [m](auto sum, auto v) { return sum + portable::exp(v - m); });
        row.top = top;
    } else if (has_nan(n, z)) {
        row.sum = std::numeric_limits<T>::quiet_NaN();
    }
    const auto at = static_cast<std::size_t>(target) - first;
    if (static_cast<std::size_t>(target) >= first && at < n) row.target = z[at];
}

template <class T>
void cap_row(std::size_t n, T* z, T cap, T inverse) {
    simd_map(n, z, {z}, [=](auto v) { return activation_row::softcap(v, cap, inverse); });
}

// z becomes g e^(z - shift), with a cap times 1 - (z / c)^2.
template <class T>
void weigh_row(std::size_t n, T* z, T g, T shift, T inverse_cap) {
    const Vec<T> wide(g), s(shift), r(inverse_cap), one(T{1});
    if (inverse_cap > 0) {
        simd_map(n, z, {z}, [=](auto u) { return wide * portable::exp(u - s) * (one - u * r * (u * r)); });
    } else {
        simd_map(n, z, {z}, [=](auto u) { return wide * portable::exp(u - s); });
    }
}

// z of a block is weighed by its row's top. `sum`, of the blocks before, shrinks with the top.
template <class T>
void weigh_block(const Row<T>& row, T top_before, T* z, std::size_t n, T inverse_cap, T* sum, std::size_t width) {
    if (row.top > top_before && top_before > -std::numeric_limits<T>::infinity()) {
        simd_map(width, sum, {sum}, [less = Vec<T>(portable::exp(top_before - row.top))](auto s) { return s * less; });
    }
    if (row.top == -std::numeric_limits<T>::infinity()) return void(std::fill_n(z, n, T{0}));
    weigh_row(n, z, T{1}, row.top, inverse_cap);
}

// Sums s of rows become s / l - W_target, with a cap for the target times 1 - (z / c)^2.
template <class T>
void subtract_targets(const std::vector<Row<T>>& rows, const IdArray& targets, std::int32_t ignore,
                      const Weight<T>& weight, Precision precision, T inverse_cap, Array<T>& sums) {
    const NoGrad scope;
    IdArray known = targets.clone();
    std::replace(known.data(), known.data() + known.size(), ignore, std::int32_t{0});
    const std::size_t width = sums.dim(1);
    const ConstArray<T> own = Operand<T>::rounded(embedding(known, weight).value(), precision).values().contiguous();
    each_row(rows.size(), width, [&](std::size_t i) {
        if (targets.data()[i] == ignore) return;
        const T z = rows[i].target * inverse_cap;
        const Vec<T> share(1 / rows[i].sum), slope(1 - z * z);
        T* const sum = sums.data() + i * width;
        simd_map(width, sum, {sum, own.data() + i * width}, [=](auto s, auto w) { return s * share - w * slope; });
    });
}

template <class T>
Tensor<T> two_ops(const Tensor<T>& x, const std::type_identity_t<Weight<T>>& weight, const IdArray& targets,
                  std::int32_t ignore, double cap) {
    const Tensor<T> z = linear(x, weight);
    return cross_entropy(cap > 0 ? softcap(z, cap) : z, targets, {.ignore = ignore});
}

}  // namespace

std::size_t columns_at_a_time(std::size_t rows, std::size_t vocab_size, std::size_t element_bytes) {
    const std::size_t column = std::max<std::size_t>(rows, 1) * element_bytes;
    if (vocab_size <= kLogits / column) return vocab_size;
    return std::max<std::size_t>(512, kBlock / column / 64 * 64);
}

template <class T>
Tensor<T> linear_cross_entropy(const Tensor<T>& x, const std::type_identity_t<Weight<T>>& weight,
                               const IdArray& targets_any, std::int32_t ignore, std::size_t block, double cap) {
    check_defined("linear_cross_entropy", x, weight);
    check(targets_any.defined(), "linear_cross_entropy: expected targets, got an undefined array");
    check(x.rank() >= 1 && weight.shape().size() == 2 && x.dim(-1) == weight.dim(1) && weight.dim(0) > 0 &&
              targets_any.shape() == Shape(x.shape().begin(), x.shape().end() - 1),
          "linear_cross_entropy: expected x (..., C), weight (V, C) and targets (...), got {}, {} and {}", x.shape(),
          weight.shape(), targets_any.shape());
    check(cap >= 0, "linear_cross_entropy: expected a cap above 0, or 0 for none, got {}", cap);
    const std::size_t V = weight.dim(0), C = weight.dim(1), rows = targets_any.size();
    if (block == 0) {
        block = columns_at_a_time(rows, V, sizeof(T));
        if (block == V) return two_ops(x, weight, targets_any, ignore, cap);
    }
    const IdArray targets = targets_any.clone();  // the caller may write to its own before backward
    std::size_t counted = 0;
    for (const std::int32_t t : targets) {
        check(t == ignore || (t >= 0 && static_cast<std::size_t>(t) < V),
              "linear_cross_entropy: targets must be at least 0 and below {}, or {}, got {}", V, ignore, t);
        counted += t != ignore;
    }
    const auto x2 = Operand<T>::rounded(x.value().reshaped({rows, C}));
    const T c = static_cast<T>(cap), inverse = static_cast<T>(1 / cap);
    // Calls visit(v, n, W's rows [v, v + n), z = X W^T) for the blocks in order; visit may write to z.
    const SavedWeight<T> w_all(weight);
    const auto each_block = [rows, V, block, x2, w_all, packed = weight.packed()](const auto& visit) {
        for (std::size_t v = 0; v < V; v += block) {
            const std::size_t n = std::min(block, V - v);
            Array<T> z({rows, n});
            if constexpr (std::is_same_v<T, float>) {
                if (packed && packed->rounds()) {
                    packed->multiply_blocks(v, v + n, x2.values().data(), rows, z.data() - v, n);
                    visit(v, n, Operand<T>(), z);
                    continue;
                }
            }
            const Operand<T> w = w_all.rows(v, v + n, x2.precision());
            product(x2, w.transposed(), z);
            visit(v, n, w, z);
        }
    };
    const bool frozen = x.requires_grad() && !weight.tensor().requires_grad() && !NoGrad::active();
    const T inverse_cap = cap > 0 ? inverse : T{0};
    Array<T> sums = frozen ? Array<T>({rows, C}, T{0}) : Array<T>();
    std::vector<Row<T>> stats(rows);
    each_block([&](std::size_t v, std::size_t n, const Operand<T>& w, Array<T>& z) {
        T* const logits = z.data();
        each_row(rows, n, [&](std::size_t i) {
            T* const row = logits + i * n;
            if (targets.data()[i] == ignore) {
                if (frozen) std::fill_n(row, n, T{0});
                return;
            }
            if (cap > 0) cap_row(n, row, c, inverse);
            const T top = stats[i].top;
            take_block(stats[i], row, n, v, targets.data()[i]);
            if (frozen) weigh_block(stats[i], top, row, n, inverse_cap, sums.data() + i * C, C);
        });
        if (frozen) product(Operand<T>::rounded(z, x2.precision()), w, sums, {.accumulate = true});
    });
    double total = 0;  // in double and in order, so that the mean of many rows keeps its last digits
    Array<T> log_sums({rows}, T{0});
    for (std::size_t i = 0; i < rows; ++i) {
        if (targets.data()[i] == ignore) continue;
        const Row<T>& r = stats[i];
        const T log_sum = portable::log(r.sum);
        log_sums.data()[i] = r.top + log_sum;
        total += static_cast<double>(log_sum) - static_cast<double>(r.target - r.top);
    }
    if (frozen) subtract_targets(stats, targets, ignore, weight, x2.precision(), inverse_cap, sums);
    const double weight_of_row = counted ? 1.0 / static_cast<double>(counted) : 0.0;
    auto gradient = [=, shape = x.shape()](const Tensor<T>& dy, Gradients<T>& grads) {
        const WithPrecision scope(x2.precision());
        grads.add_through(dy, [&] {
            const Tensor<T> rows_of_x = grads.in(0, x2.values().reshaped(shape)),
                            w = grads.in(1, w_all.operand(Precision::fp32).full());
            return two_ops(rows_of_x, w, targets.reshaped(Shape(shape.begin(), shape.end() - 1)), ignore, cap);
        });
    };
    // dz of row i in place of its logits z of columns [v, v + n)
    const auto logits_gradient = [=](T g, std::size_t i, std::size_t v, std::size_t n, T* row) {
        const std::int32_t t = targets.data()[i];
        if (t == ignore) {
            std::fill_n(row, n, T{0});
            return;
        }
        const auto at = static_cast<std::size_t>(t) - v;
        const bool hit = static_cast<std::size_t>(t) >= v && at < n;
        T target_gradient = g;
        if (cap > 0) {
            cap_row(n, row, c, inverse);
            if (hit) target_gradient *= 1 - row[at] * inverse * (row[at] * inverse);
        }
        weigh_row(n, row, g, log_sums.data()[i], inverse_cap);
        if (hit) row[at] -= target_gradient;
    };
    auto fast = [=, shape = x.shape()](const Array<T>& dy, Gradients<T>& grads) {
        const T g = *dy.data() * static_cast<T>(weight_of_row);
        if (sums.defined()) {
            const Vec<T> wide(g);
            Array<T> dx(shape);
            simd_map(sums.size(), dx.data(), {sums.data()}, [wide](auto s) { return s * wide; });
            return grads.add(0, std::move(dx));
        }
        Array<T> dx = grads.wanted(0) ? Array<T>({rows, C}) : Array<T>();
        const auto run = [&](Array<T>& dw, bool accumulate) {
            each_block([&](std::size_t v, std::size_t n, const Operand<T>& w, Array<T>& z) {
                T* const logits = z.data();
                each_row(rows, n, [&](std::size_t i) { logits_gradient(g, i, v, n, logits + i * n); });
                const auto dz = Operand<T>::rounded(z, x2.precision());
                if (dx.defined()) product(dz, w, dx, {.accumulate = v > 0});
                if (!dw.defined()) return;
                Array<T> part = dw.sliced(0, v, v + n);
                product(dz.transposed(), x2, part, {.accumulate = accumulate});
            });
        };
        Array<T> none;
        grads.wanted(1) ? grads.accumulate_into(1, run, SumLayout::any) : run(none, false);
        if (dx.defined()) grads.add(0, dx.reshaped(shape));
    };
    return record("linear_cross_entropy", Array<T>(Shape{}, static_cast<T>(total * weight_of_row)), inputs(x, weight),
                  std::move(gradient), std::move(fast));
}

INKLING_BOTH_TYPES(linear_cross_entropy<T>);

}  // namespace inkling
