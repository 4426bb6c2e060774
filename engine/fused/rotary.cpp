//   rotate   each pair is rotated by its angle     dx: dy rotated back
#include "engine/fused/rotary.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/parallel.h"
#include "engine/base/portable_math.h"
#include "engine/kernels/rotate_row.h"

namespace inkling {
namespace {

struct Rotation {
    IdArray positions;  // a contiguous copy; undefined: the rows' own positions
    RotaryPairs pairs;
};

template <class A>
bool has_dense_rows(const A& x) {
    return x.size() == 0 || x.strides().back() == 1;
}

// Rows of x and y are dense, at any distance. sign -1 rotates back.
template <class T>
void rotate_rows(const ConstArray<T>& x_any, const ConstArray<T>& table, const Rotation& by, T sign,
                 const Array<T>& y) {
    const ConstArray<T> x = has_dense_rows(x_any) ? x_any : x_any.contiguous();
    const std::size_t d = x.dim(-1), L = x.dim(-2), half = table.dim(-1), rows = d ? x.size() / d : 0;
    const std::size_t rows_of_one = std::max<std::size_t>(1, rows / std::max<std::size_t>(1, x.dim(0)));
    const auto row = [](auto* data, const auto& of, std::size_t i) {
        return data + static_cast<std::ptrdiff_t>(i) * of.strides()[of.rank() - 2];
    };
    parallel_rows(rows, d, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end;) {
            const auto matrix = [i = r / L](const auto& of) {  // its offset in an array (..., L, d)
                return offset_of(i, of.shape(), of.strides(), of.rank() - 2);
            };
            const T* const from = x.data() + matrix(x);
            T* const to = const_cast<T*>(y.data()) + matrix(y);
            const std::int32_t* const positions =
                by.positions.defined() ? by.positions.data() + r / rows_of_one * L : nullptr;
            for (std::size_t i = r % L; i < L && r < end; ++i, ++r) {
                const std::size_t position = positions ? static_cast<std::size_t>(positions[i]) : i;
                const T *const in = row(from, x, i), *const c = table.data() + position * 2 * half;
                T* const out = row(to, y, i);
                if (by.pairs == RotaryPairs::halves)
                    rotate_row<1>(in, c, c + half, sign, half, half, out);
                else
                    rotate_row<2>(in, c, c + half, sign, half, 1, out);
                std::copy(in + 2 * half, in + d, out + 2 * half);
            }
        }
    });
}

// Rotates x by `sign` (1 or -1) times the angles, and the gradient back.
template <class T>
Tensor<T> rotated(const Tensor<T>& x, const ConstArray<T>& table, const Rotation& by, T sign) {
    Array<T> y(x.shape());
    rotate_rows<T>(x.value(), table, by, sign, y);
    const auto gradient = [table, by, sign](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add(0, rotated(dy, table, by, -sign));
    };
    return record("rotary", y, inputs(x), gradient, [table, by, sign](const Array<T>& dy, Gradients<T>& grads) {
        Array<T> dx = grads.empty(0);
        if (!has_dense_rows(dx)) dx = Array<T>(dy.shape());
        rotate_rows<T>(dy, table, by, -sign, dx);
        grads.add(0, std::move(dx));
    });
}

}  // namespace

template <class T>
Tensor<T> rotate(const Tensor<T>& x, const ConstArray<std::type_identity_t<T>>& table_any, const IdArray& positions,
                 RotaryPairs pairs) {
    check_defined("rotary", x);
    check(x.rank() >= 2 && table_any.rank() == 3 && table_any.dim(1) == 2 && 2 * table_any.dim(2) <= x.dim(-1),
          "rotary: expected x (..., L, d) and a table (n, 2, r / 2) with r of at most d, got {} and {}", x.shape(),
          table_any.shape());
    Rotation by{{}, pairs};
    std::size_t needed = x.dim(-2);
    if (positions.defined()) {
        check(x.rank() >= 3 && positions.shape() == Shape{x.dim(0), x.dim(-2)},
              "rotary: expected positions (B, L) of x (B, ..., L, d), got {} for {}", positions.shape(), x.shape());
        by.positions = positions.clone();
        const auto [least, most] = std::minmax_element(by.positions.begin(), by.positions.end());
        check(positions.size() == 0 || *least >= 0, "rotary: positions of at least 0 are required");
        needed = positions.size() == 0 ? 0 : static_cast<std::size_t>(*most) + 1;
    }
    check(needed <= table_any.dim(0), "rotary: expected a table for {} positions, got {}", needed, table_any.shape());
    return rotated<T>(x, table_any.contiguous(), by, T{1});
}

template <class T>
Tensor<T> rotary(const Tensor<T>& x, const RotaryOptions& o) {
    check_defined("rotary", x);
    check(x.rank() >= 2 && x.dim(-1) % 2 == 0, "rotary: expected x (..., L, d) with an even d, got shape {}",
          x.shape());
    check(o.base > 0, "rotary: expected a base above 0, got {}", o.base);
    std::size_t start = o.start, rows = x.dim(-2);
    if (o.positions.defined()) {
        start = rows = 0;
        for (const std::int32_t p : o.positions) rows = std::max(rows, static_cast<std::size_t>(std::max(p, 0)) + 1);
    }
    return rotate(x, rotary_table<T>(rotary_rates(x.dim(-1), o.base), start, rows, o.clockwise), o.positions, o.pairs);
}

INKLING_BOTH_TYPES(rotary<T>, rotate<T>);

}  // namespace inkling
