// Approximates the nearest semi-orthogonal matrix, using only products: a Newton-Schulz iteration with coefficients
// chosen for speed (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon). By design it does not converge:
// after 5 steps the singular values of a matrix of norm 1 that were .01 or more lie between .68 and 1.14.
//   X = U / (|U|_F + 1e-7);   then, each step, with a, b, c = 3.4445, -4.7750, 2.0315:
//   A = X X^T;  X = (a I + b A + c A A) X        a tall X: A = X^T X;  X = X (a I + b A + c A A)
// Polar Express (Amsel et al. 2025, arXiv 2505.16932) has other coefficients for each step, the best for singular
// values of .001 or more; after 4 steps they lie between .42 and 1.58, after 5 between .86 and 1.14.
#pragma once

#include "engine/array/array.h"
#include "train/settings/enums.h"

namespace inkling::train {

// (n, rows, columns) -> the same shape; treats each of the n matrices separately. Products use the current precision.
template <class T>
Array<T> newton_schulz(const Array<T>& u, std::size_t steps, NewtonSchulz coefficients = NewtonSchulz::original);

}  // namespace inkling::train
