//   add      y = a + b        da = dy               db = dy
//   sub      y = a - b        da = dy               db = -dy
//   mul      y = a b          da = dy b             db = dy a
//   div      y = a / b        da = dy / b           db = -dy y / b
//   maximum  y = max(a, b)    da = dy where a > b, dy / 2 where a = b, else 0; db the other way round
//   minimum  y = min(a, b)    da = dy where a < b, dy / 2 where a = b, else 0; db the other way round
//   pow      y = a^b          da = dy b a^(b-1), 0 where b = 0      db = dy y ln a, 0 where a = 0 and b >= 0
//   remainder  y = a - b floor(a / b)    da = dy        db = -dy floor(a / b)
// sum_to sums gradients of broadcast operands to the operand's shape. Where an operand is NaN, so is its gradient.
#include "engine/ops/elementwise/binary.h"

#include <cmath>

#include "engine/array/axes.h"
#include "engine/array/map.h"
#include "engine/autograd/op_gradients.h"
#include "engine/ops/elementwise/formula.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/unary_op.h"

namespace inkling {
namespace {

template <class T, class F>
Array<T> map_both(const char* op, const Tensor<T>& a, const Tensor<T>& b, const F& f) {
    check_defined(op, a, b);
    return map_arrays<T>(broadcast_shape(op, a.shape(), b.shape()), f, a.value(), b.value());
}

// The gradient of input i is dy, summed to the input's shape.
template <class T, class Dy>
void add_summed(Gradients<T>& grads, std::size_t i, const Shape& input, const Dy& dy) {
    if (grads.wanted(i)) grads.add(i, sum_to(dy, input));
}

}  // namespace

template <class T>
Tensor<T> add(const Tensor<T>& a, const Tensor<T>& b) {
    return record("add", map_both("add", a, b, [](auto u, auto v) { return u + v; }), inputs(a, b),
                  [sa = a.shape(), sb = b.shape()](const auto& dy, Gradients<T>& grads) {
                      add_summed(grads, 0, sa, dy);
                      add_summed(grads, 1, sb, dy);
                  });
}

template <class T>
Tensor<T> sub(const Tensor<T>& a, const Tensor<T>& b) {
    return record("sub", map_both("sub", a, b, [](auto u, auto v) { return u - v; }), inputs(a, b),
                  [sa = a.shape(), sb = b.shape()](const auto& dy, Gradients<T>& grads) {
                      add_summed(grads, 0, sa, dy);
                      add_mapped(
                          grads, 1, sb, [](auto g) { return -g; }, dy);
                  });
}

template <class T>
Tensor<T> mul(Tensor<T> a, const Tensor<T>& b) {
    check_defined("mul", a, b);
    const auto product = [](auto u, auto v) { return u * v; };
    auto again = recomputation(a);  // of an activation that gates b: other values may need a chain of ops
    if (!again.template target<UnaryAgain<T>>()) again = nullptr;
    const Saved<T> kept_a = again ? Saved<T>() : saved_for(b, a.value()), kept_b = saved_for(a, b.value());
    const auto first = [again, kept_a] { return again ? Saved<T>(again()) : kept_a; };
    const Shape shape = broadcast_shape("mul", a.shape(), b.shape()), shape_a = a.shape(), shape_b = b.shape();
    const bool in_place = shape_a == shape && a.value().can_overwrite();
    const bool both = a.requires_grad() && b.requires_grad();
    auto nodes = inputs(a, b);
    Array<T> y = in_place ? a.value_in_place() : map_arrays<T>(shape, product, a.value(), b.value());
    if (in_place) y *= b.value();
    const Tensor<T> result = record("mul", std::move(y), std::move(nodes), [=](const auto& dy, Gradients<T>& grads) {
        add_mapped(grads, 0, shape_a, product, dy, SavedOf<T>{1, kept_b});
        if (grads.wanted(1)) add_mapped(grads, 1, shape_b, product, dy, SavedOf<T>{0, first()});
    });
    if (both) can_recompute(result, [=] { return map_arrays<T>(shape, product, *first(), *kept_b); });
    return result;
}

template <class T>
Tensor<T> div(const Tensor<T>& a, const Tensor<T>& b) {
    const Array<T> y = map_both("div", a, b, [](auto u, auto v) { return u / v; });
    return record("div", y, inputs(a, b),
                  [sa = a.shape(), b = Saved(b), y = saved_for(b, y)](const auto& dy, Gradients<T>& grads) {
                      const SavedOf<T> divisor{1, b}, quotient{kOutput, y};
                      add_mapped(
                          grads, 0, sa, [](auto g, auto v) { return g / v; }, dy, divisor);
                      add_mapped(
                          grads, 1, b->shape(), [](auto g, auto q, auto v) { return -g * q / v; }, dy, quotient,
                          divisor);
                  });
}

namespace {

// The better of two numbers: better(u, v) is true if u is better than v.
template <class T, class Better>
Tensor<T> best(const char* op, const Tensor<T>& a, const Tensor<T>& b, const Better& better) {
    const auto value = [=](auto u, auto v) { return xsimd::select(better(u, v) | xsimd::isnan(u), u, v); };
    const auto share = [=](Vec<T> g, Vec<T> u, Vec<T> v) {  // the gradient of u: g, g / 2, 0 or NaN
        const Vec<T> zero(T{0}), half(T{0.5});
        return select(better(u, v), g, select(better(v, u), zero, select(u == v, half * g, u + v)));
    };
    return record(op, map_both(op, a, b, value), inputs(a, b),
                  [share, a = Saved(a), b = Saved(b)](const auto& dy, Gradients<T>& grads) {
                      const SavedOf<T> first{0, a}, second{1, b};
                      add_mapped(grads, 0, a->shape(), share, dy, first, second);
                      add_mapped(grads, 1, b->shape(), share, dy, second, first);
                  });
}

}  // namespace

template <class T>
Tensor<T> maximum(const Tensor<T>& a, const Tensor<T>& b) {
    return best("maximum", a, b, [](auto u, auto v) { return u > v; });
}

template <class T>
Tensor<T> minimum(const Tensor<T>& a, const Tensor<T>& b) {
    return best("minimum", a, b, [](auto u, auto v) { return u < v; });
}

template <class T>
Tensor<T> pow(const Tensor<T>& x, const Tensor<T>& exponent) {
    const Array<T> y = map_both("pow", x, exponent, lanewise<T>([](T a, T b) { return std::pow(a, b); }));
    return record("pow", y, inputs(x, exponent),
                  [a = Saved(x), b = Saved(exponent), y = saved_for(exponent, y)](const auto& dy, Gradients<T>& grads) {
                      const SavedOf<T> base{0, a}, power{1, b}, result{kOutput, y};
                      const auto da =
                          both_ways(lanewise<T>([](T g, T u, T p) { return p == 0 ? 0 : g * p * std::pow(u, p - 1); }),
                                    [](const Tensor<T>& g, const Tensor<T>& u, const Tensor<T>& p) {
                                        return where(xt::equal(p.value(), T{0}), 0, g * p * pow(u, p - 1));
                                    });
                      const auto db = both_ways(
                          lanewise<T>([](T g, T u, T p, T z) { return u == 0 && p >= 0 ? 0 : g * z * std::log(u); }),
                          [](const Tensor<T>& g, const Tensor<T>& u, const Tensor<T>& p, const Tensor<T>& z) {
                              const MaskArray zero = xt::equal(u.value(), T{0}), flat = zero && p.value() >= T{0};
                              return where(flat, 0, g * z * log(where(zero, 1, u)));
                          });
                      add_mapped(grads, 0, a->shape(), da, dy, base, power);
                      add_mapped(grads, 1, b->shape(), db, dy, base, power, result);
                  });
}

template <class T>
Tensor<T> remainder(const Tensor<T>& a, const Tensor<T>& b) {
    const auto rest = [](T u, T v) {
        const T r = std::fmod(u, v);
        return r != 0 && (r < 0) != (v < 0) ? r + v : r;
    };
    return record(
        "remainder", map_both("remainder", a, b, lanewise<T>(rest)), inputs(a, b),
        [rest, sa = a.shape(), a = saved_for(b, a.value()), b = Saved(b)](const auto& dy, Gradients<T>& grads) {
            add_summed(grads, 0, sa, dy);
            // -floor(a / b), which is constant except for its jumps
            const auto db = lanewise<T>([rest](T g, T u, T v) { return g * -std::round((u - rest(u, v)) / v); });
            add_mapped(grads, 1, b->shape(), db, dy, SavedOf<T>{0, a}, SavedOf<T>{1, b});
        });
}

#define INKLING_INSTANTIATE(T)                                      \
    template Tensor<T> add(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> sub(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> mul(Tensor<T>, const Tensor<T>&);            \
    template Tensor<T> div(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> maximum(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> minimum(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> pow(const Tensor<T>&, const Tensor<T>&);     \
    template Tensor<T> remainder(const Tensor<T>&, const Tensor<T>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
