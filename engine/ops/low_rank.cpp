//   add_low_rank   Z = Y + H B^T,  H = s X A^T
//   dY = dZ     dB = dZ^T H     dH = s dZ B     dA = dH^T X     dX = dH A
// H has r columns: it is saved. X is saved as linear saves it, or computed again.
#include "engine/ops/low_rank.h"

#include "engine/backward.h"
#include "engine/kernels/operand.h"
#include "engine/kernels/simd.h"
#include "engine/parallel.h"

namespace inkling {
namespace {

// s A B^T for A (rows, n) and B (r, n)
template <class T>
Array<T> scaled_product(const Operand<T>& a, const Operand<T>& b, std::size_t rows, std::size_t columns, T s) {
    Array<T> h({rows, columns});
    product(a, b, h);
    const Vec<T> factor(s);
    parallel_for(h.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        simd_map(
            end - begin, h.data() + begin, [=](auto v) { return v * factor; }, h.data() + begin);
    });
    return h;
}

}  // namespace

template <class T>
Tensor<T> add_low_rank(Tensor<T> y, const Tensor<T>& x, const Tensor<T>& a, const Tensor<T>& b, double scale) {
    check_defined("add_low_rank", y, x, a, b);
    const bool fits = x.rank() >= 1 && a.rank() == 2 && b.rank() == 2 && x.dim(-1) == a.dim(1) && a.dim(0) == b.dim(1);
    Shape shape = x.shape();
    if (fits) shape.back() = b.dim(0);
    check(fits && y.shape() == shape,
          "add_low_rank: y (..., out), x (..., in), A (r, in) and B (out, r) are required, got {}, {}, {} and {}",
          y.shape(), x.shape(), a.shape(), b.shape());
    const std::size_t in = a.dim(1), out = b.dim(0), r = a.dim(0);
    const std::size_t rows = size_of(Shape(shape.begin(), shape.end() - 1));
    const T s = static_cast<T>(scale);

    const std::function<ConstArray<T>()> recompute = x.requires_grad() ? x.node()->recompute : nullptr;
    const bool keep = a.requires_grad() && !recompute;
    const ConstArray<T> rows_of_x = x.value().reshaped({rows, in});
    Operand<T> x2 = keep ? Operand<T>::rounded(rows_of_x) : Operand<T>(rows_of_x);
    const Precision precision = x2.precision();
    const SavedWeight<T> w_a(a), w_b(b);
    const Operand<T> h =
        Operand<T>::rounded(scaled_product(x2, w_a.operand(precision).transposed(), rows, r, s), precision);
    auto nodes = inputs(y, x, a, b);
    const bool own = y.value().is_contiguous() && !y.value().shares_buffer();
    Array<T> z = own ? y.value_in_place() : y.value().clone();
    y = Tensor<T>();
    Array<T> z2 = z.reshaped({rows, out});
    product(h, w_b.operand(precision).transposed(), z2, {.accumulate = true});
    if (!keep) x2 = Operand<T>();
    return record(
        "add_low_rank", std::move(z), std::move(nodes),
        [x2, recompute, precision, w_a, w_b, h, s, rows, in, out, r](const Array<T>& dz, Gradients<T>& grads) {
            const Operand<T> dz2 = Operand<T>::rounded(dz.reshaped({rows, out}), precision);
            if (grads.wanted(3)) {
                auto [db, accumulate] = grads.target(3);
                product(dz2.transposed(), h, db, {accumulate});
            }
            if (grads.wanted(1) || grads.wanted(2)) {
                const Operand<T> dh =
                    Operand<T>::rounded(scaled_product(dz2, w_b.operand(precision), rows, r, s), precision);
                if (grads.wanted(2)) {
                    auto [da, accumulate] = grads.target(2);
                    const Operand<T> kept = recompute ? Operand<T>(recompute().reshaped({rows, in}), precision) : x2;
                    product(dh.transposed(), kept, da, {accumulate});
                }
                if (grads.wanted(1)) {
                    grads.write(1, [&](const Array<T>& dx, bool accumulate) {
                        Array<T> dx2 = dx.reshaped({rows, in});
                        product(dh, w_a.operand(precision), dx2, {accumulate});
                    });
                }
            }
            if (grads.wanted(0)) grads.add(0, dz);
        });
}

template Tensor<float> add_low_rank(Tensor<float>, const Tensor<float>&, const Tensor<float>&, const Tensor<float>&,
                                    double);
template Tensor<double> add_low_rank(Tensor<double>, const Tensor<double>&, const Tensor<double>&,
                                     const Tensor<double>&, double);

}  // namespace inkling
