//   add_low_rank   Z = Y + H B^T,  H = s X A^T
//   dY = dZ     dB = dZ^T H     dH = s dZ B     dA = dH^T X     dX = dH A
// H (rows, r) and X are saved unchanged, or X is recomputed. dA and dB are sums over the rows of long thin products:
// gemm would spend its time on packing X and dZ, so they have a separate loop, in full precision.
#include "engine/fused/low_rank.h"

#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/parallel.h"
#include "engine/kernels/simd.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/plain/plain.h"
#include "engine/weights/operand.h"

namespace inkling {
namespace {

// s A B^T for A (rows, n) and B (r, n)
template <class T>
Array<T> scaled_product(const Operand<T>& a, const Operand<T>& b, std::size_t rows, std::size_t columns, T s) {
    Array<T> h({rows, columns});
    product(a, b, h);
    const Vec<T> factor(s);
    parallel_for(h.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        simd_map(end - begin, h.data() + begin, {h.data() + begin}, [=](auto v) { return v * factor; });
    });
    return h;
}

// Sums over the rows of u (rows, n): C[k, j] = sum_i h[i, k] u[i, j] for K values of k and V vectors of columns.
template <std::size_t K, std::size_t V, class T>
void sum_tile(const T* u, std::size_t n, std::size_t wide, const T* h, std::size_t r, std::size_t rows, T* c) {
    constexpr std::size_t W = Vec<T>::size;
    Vec<T> sum[K][V];
    for (auto& row : sum)
        for (auto& s : row) s = Vec<T>(T{0});
    for (std::size_t i = 0; i < rows; ++i, u += n, h += r) {
        Vec<T> x[V];
        for (std::size_t v = 0; v < V; ++v) x[v] = V > 1 ? Vec<T>::load_unaligned(u + v * W) : load_part(u, wide);
        for (std::size_t k = 0; k < K; ++k) {
            const Vec<T> factor(h[k]);
            for (std::size_t v = 0; v < V; ++v) sum[k][v] = multiply_add(x[v], factor, sum[k][v]);
        }
    }
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t v = 0; v < V; ++v) store_part(c + k * n + v * W, sum[k][v], V > 1 ? W : wide);
}

// H^T U (r, n) for h (rows, r) and u (rows, n).
template <class T>
Array<T> transposed_product(const ConstArray<T>& h, const ConstArray<T>& u_any) {
    constexpr std::size_t W = Vec<T>::size, K = 4, V = 4;
    const ConstArray<T> u = u_any.contiguous();
    const std::size_t rows = u.dim(0), n = u.dim(1), r = h.dim(1);
    Array<T> c({r, n});
    const auto columns = [&](std::size_t begin, std::size_t end) {
        const auto tiles = [&](std::size_t j, std::size_t wide, auto vectors) {
            std::size_t k = 0;
            for (; k + K <= r; k += K)
                sum_tile<K, vectors()>(u.data() + j, n, wide, h.data() + k, r, rows, c.data() + k * n + j);
            for (; k < r; ++k)
                sum_tile<1, vectors()>(u.data() + j, n, wide, h.data() + k, r, rows, c.data() + k * n + j);
        };
        for (std::size_t block = begin; block < end; ++block) {
            std::size_t j = block * V * W;
            const std::size_t last = std::min(n, j + V * W);
            if (last - j == V * W) {
                tiles(j, W, std::integral_constant<std::size_t, V>{});
                continue;
            }
            for (; j < last; j += W) tiles(j, std::min(W, last - j), std::integral_constant<std::size_t, 1>{});
        }
    };
    parallel_for((n + V * W - 1) / (V * W), std::max<std::size_t>(1, kGrain / std::max<std::size_t>(1, rows * r)),
                 columns);
    return c;
}

template <class T>
void add_to(Gradients<T>& grads, std::size_t i, const ConstArray<T>& g) {
    const auto add = [&](Array<T>& sum, bool accumulate) { accumulate ? add_into(sum, g) : copy_into(sum, g); };
    grads.accumulate_into(i, add, SumLayout::any);
}

}  // namespace

template <class T>
Tensor<T> add_low_rank(Tensor<T> y, const Tensor<T>& x, const Tensor<T>& a, const Tensor<T>& b, double scale) {
    check_defined("add_low_rank", y, x, a, b);
    const bool fits = x.rank() >= 1 && a.rank() == 2 && b.rank() == 2 && x.dim(-1) == a.dim(1) && a.dim(0) == b.dim(1);
    Shape shape = x.shape();
    if (fits) shape.back() = b.dim(0);
    check(fits && y.shape() == shape,
          "add_low_rank: expected y (..., out), x (..., in), A (r, in) and B (out, r), got {}, {}, {} and {}",
          y.shape(), x.shape(), a.shape(), b.shape());
    const std::size_t in = a.dim(1), out = b.dim(0), r = a.dim(0);
    const std::size_t rows = size_of(Shape(shape.begin(), shape.end() - 1));
    const T s = static_cast<T>(scale);

    const std::function<ConstArray<T>()> recompute = recomputation(x);
    const bool keep = a.requires_grad() && !recompute;
    const Operand<T> x2(x.value().reshaped({rows, in}));
    const Precision precision = x2.precision();
    const Operand<T> w_a(a.value(), precision), w_b(b.value(), precision);
    const Array<T> h = scaled_product(x2, w_a.transposed(), rows, r, s);
    auto nodes = inputs(y, x, a, b);
    Array<T> z = y.value().can_overwrite() ? y.value_in_place() : y.value().clone();
    y = Tensor<T>();
    Array<T> z2 = z.reshaped({rows, out});
    product(Operand<T>(h, precision), w_b.transposed(), z2, {.accumulate = true});
    const Saved<T> kept_x = keep ? Saved<T>(x) : Saved<T>();
    // The values of Y, and of an X that was not saved, do not matter.
    auto gradient = [=, shape_x = x.shape()](const Tensor<T>& dz, Gradients<T>& grads) {
        const WithPrecision scope(precision);
        grads.add_through(dz, [&] {
            const ConstArray<T> zero = Array<T>({}, T{0}), kept = recompute ? recompute() : *kept_x;
            const Tensor<T> inner =
                plain::linear(grads.in(1, kept.defined() ? kept : zero.broadcasted(shape_x)), grads.in(2, w_a.full()));
            const Tensor<T> low_rank = plain::linear(inner, grads.in(3, w_b.full()));
            const Tensor<T> first = grads.in(0, zero.broadcasted(low_rank.shape()));
            return first + low_rank * s;
        });
    };
    auto fast = [=](const Array<T>& dz, Gradients<T>& grads) {
        const Array<T> dz2 = dz.reshaped({rows, out});
        if (grads.wanted(3)) add_to<T>(grads, 3, transposed_product<T>(h, dz2).transposed(0, 1));
        if (grads.wanted(1) || grads.wanted(2)) {
            const Array<T> dh = scaled_product(Operand<T>(dz2, precision), w_b, rows, r, s);
            if (grads.wanted(2)) {
                const ConstArray<T> again = recompute ? recompute() : *kept_x;
                add_to<T>(grads, 2, transposed_product<T>(dh, again.reshaped({rows, in})));
            }
            if (grads.wanted(1)) {
                grads.accumulate_into(1, [&](const Array<T>& dx, bool accumulate) {
                    Array<T> dx2 = dx.reshaped({rows, in});
                    product(Operand<T>(dh, precision), w_a, dx2, {accumulate});
                });
            }
        }
        if (grads.wanted(0)) grads.add(0, dz);
    };
    return record("add_low_rank", std::move(z), std::move(nodes), std::move(gradient), std::move(fast));
}

INKLING_BOTH_TYPES(add_low_rank<T>);

}  // namespace inkling
