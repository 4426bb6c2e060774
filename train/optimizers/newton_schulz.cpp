#include "train/optimizers/newton_schulz.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/base/parallel.h"
#include "engine/kernels/lanes.h"
#include "engine/weights/operand.h"

namespace inkling::train {
namespace {

// x -> a x + b x^3 + c x^5, for the singular values.
struct Polynomial {
    double a, b, c;
};
constexpr Polynomial kOriginal = {3.4445, -4.7750, 2.0315};
constexpr Polynomial kPolarExpress[] = {  // the last repeats
    {8.156554524902461, -22.48329292557795, 15.878769915207462},
    {4.042929935166739, -2.808917465908714, 0.5000178451051316},
    {3.8916678022926607, -2.772484153217685, 0.5060648178503393},
    {3.285753657755655, -2.3681294933425376, 0.46449024233003106},
    {2.3465413258596377, -1.7097828382687081, 0.42323551169305323}};
constexpr double kPolarRoom = 1.02;  // they diverge above 1, which rounding to bfloat16 may reach

const Polynomial& polynomial_of(NewtonSchulz coefficients, std::size_t step) {
    if (coefficients == NewtonSchulz::original) return kOriginal;
    return kPolarExpress[std::min(step, std::size(kPolarExpress) - 1)];
}

// u / (room |u|_F + 1e-7) for each matrix of `size` elements.
template <class T>
Array<T> normalized(const Array<T>& u, std::size_t size, double room) {
    Array<T> x(u.shape());
    parallel_rows(x.size() / size, size, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const T* const from = u.data() + i * size;
            double squares = 0;  // by chunks, in double: the sum of a large matrix must not lose small terms
            for (std::size_t at = 0; at < size; at += 4096) {
                squares += static_cast<double>(simd_dot(std::min<std::size_t>(4096, size - at), from + at, from + at));
            }
            const Vec<T> scale(static_cast<T>(1 / (room * std::sqrt(squares) + 1e-7)));
            simd_map(size, x.data() + i * size, {from}, [=](auto v) { return v * scale; });
        }
    });
    return x;
}

// square = a I + b A + c square for each A (M, M).
template <class T>
void to_polynomial(Array<T>& square, const Array<T>& gram, const Polynomial& of) {
    const std::size_t M = gram.dim(-1);
    const Vec<T> b(static_cast<T>(of.b)), c(static_cast<T>(of.c));
    parallel_rows(gram.size() / M, M, [&](std::size_t begin, std::size_t end) {
        T* const rows = square.data() + begin * M;
        simd_map((end - begin) * M, rows, {rows, gram.data() + begin * M},
                 [=](auto aa, auto one) { return b * one + c * aa; });
        for (std::size_t row = begin; row < end; ++row) square.data()[row * M + row % M] += static_cast<T>(of.a);
    });
}

}  // namespace

template <class T>
Array<T> newton_schulz(const Array<T>& u, std::size_t steps, NewtonSchulz coefficients) {
    check(u.rank() == 3 && u.size() > 0 && u.is_contiguous(),
          "newton_schulz: expected contiguous matrices (n, rows, columns), got shape {}", u.shape());
    const std::size_t n = u.dim(0), rows = u.dim(1), columns = u.dim(2), M = std::min(rows, columns);
    const bool tall = rows > columns;
    Array<T> x = normalized(u, rows * columns, coefficients == NewtonSchulz::original ? 1 : kPolarRoom);
    Array<T> gram({n, M, M}), square({n, M, M}), next(x.shape());
    for (std::size_t i = 0; i < steps; ++i) {
        const Operand<T> from(x);
        if (tall) {
            product(from.transposed(), from, gram);
        } else {
            product(from, from.transposed(), gram);
        }
        const Operand<T> factor(gram);
        product(factor, factor, square);
        to_polynomial(square, gram, polynomial_of(coefficients, i));
        const Operand<T> polynomial(square);
        if (tall) {
            product(from, polynomial, next);
        } else {
            product(polynomial, from, next);
        }
        std::swap(x, next);
    }
    return x;
}

template Array<float> newton_schulz(const Array<float>&, std::size_t, NewtonSchulz);
template Array<double> newton_schulz(const Array<double>&, std::size_t, NewtonSchulz);

}  // namespace inkling::train
