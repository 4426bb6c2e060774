// The nearest semi-orthogonal matrix, roughly, by products alone: a Newton-Schulz iteration whose coefficients are
// chosen for speed (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon). It does not converge, by design:
// after 5 steps singular values of .01 and more, of a matrix of norm 1, lie between .68 and 1.14.
//   X = U / (|U|_F + 1e-7);   then, each step, with a, b, c = 3.4445, -4.7750, 2.0315:
//   A = X X^T;  X = (a I + b A + c A A) X        a tall X: A = X^T X;  X = X (a I + b A + c A A)
#pragma once

#include "engine/array/array.h"

namespace inkling::train {

// (n, rows, columns) -> the same shape, each of the n matrices for itself. Products in the precision that is set.
template <class T>
Array<T> newton_schulz(const Array<T>& u, std::size_t steps);

}  // namespace inkling::train
