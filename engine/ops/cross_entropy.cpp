//   cross_entropy   y = mean_i (l_i - (z_i[t_i] - m_i)), m_i = max_j z_ij, l_i = ln sum_j e^(z_ij - m_i)
//                   dz_ij = dy (e^(z_ij - m_i - l_i) - [j = t_i]) / n
// A row with a NaN, with an infinite logit or without a finite one makes the loss NaN, and its gradient.
// The probabilities are not saved: backward computes them again from the logits and two numbers per row.
#include "engine/ops/cross_entropy.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/kernels/simd.h"
#include "engine/parallel.h"
#include "engine/profile.h"

namespace inkling {

template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets_any, std::int32_t ignore) {
    check_defined("cross_entropy", logits);
    check(targets_any.defined(), "cross_entropy: targets are required, got an undefined array");
    check(logits.rank() > 0 && logits.dim(-1) > 0 &&
              targets_any.shape() == Shape(logits.shape().begin(), logits.shape().end() - 1),
          "cross_entropy: logits (..., V) and targets (...) are required, got {} and {}", logits.shape(),
          targets_any.shape());
    const ConstArray<T> z = logits.value().contiguous();
    const IdArray targets = targets_any.contiguous();
    const std::size_t width = z.dim(-1), rows = targets.size();
    std::size_t counted = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int32_t t = targets.data()[i];
        check(t == ignore || (t >= 0 && static_cast<std::size_t>(t) < width),
              "cross_entropy: targets must be at least 0 and below {}, or {}, got {}", width, ignore, t);
        counted += t != ignore;
    }
    Array<T> maxima({rows}), log_sums({rows});
    T *const top = maxima.data(), *const log_sum = log_sums.data();
    parallel_rows(rows, width, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (targets.data()[i] == ignore) continue;
            const T* const row = z.data() + i * width;
            top[i] = simd_max(width, row);
            const Vec<T> m(top[i]);
            log_sum[i] = std::log(simd_sum(
                width, [m](auto v) { return xsimd::exp(v - m); }, row));
        }
    });
    double total = 0;  // in double and in order: the mean of many rows keeps its last digits
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int32_t t = targets.data()[i];
        if (t == ignore) continue;
        const T target = z.data()[i * width + static_cast<std::size_t>(t)];
        total += static_cast<double>(log_sum[i]) - static_cast<double>(target - top[i]);
    }
    const double weight = counted ? 1.0 / static_cast<double>(counted) : 0.0;
    return record("cross_entropy", Array<T>(Shape{}, static_cast<T>(total * weight)), inputs(logits),
                  [z = Saved(z), maxima, log_sums, targets, ignore, weight, width, rows](const Array<T>& dy,
                                                                                         Gradients<T>& grads) {
                      Array<T> dz(z->shape());
                      T* const out = dz.data();
                      const Vec<T> g(*dy.data() * static_cast<T>(weight));
                      const T *const pz = z->data(), *const pm = maxima.data(), *const pl = log_sums.data();
                      parallel_rows(rows, width, [&](std::size_t begin, std::size_t end) {
                          for (std::size_t i = begin; i < end; ++i) {
                              T* const row = out + i * width;
                              const std::int32_t t = targets.data()[i];
                              if (t == ignore) {
                                  std::fill_n(row, width, T{0});
                                  continue;
                              }
                              const Vec<T> m(pm[i]), l(pl[i]);
                              simd_map(
                                  width, row, [=](auto v) { return g * xsimd::exp((v - m) - l); }, pz + i * width);
                              row[t] -= g.get(0);
                          }
                      });
                      grads.add(0, std::move(dz));
                  });
}

template Tensor<float> cross_entropy(const Tensor<float>&, const IdArray&, std::int32_t);
template Tensor<double> cross_entropy(const Tensor<double>&, const IdArray&, std::int32_t);

}  // namespace inkling
