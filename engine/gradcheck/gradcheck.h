// Gradients checked against finite differences, in double. Used by the tests and by `inkling gradcheck`.
//   double error = gradient_error([](const auto& in) { return softmax(in[0]); }, {normal({2, 5}, 1)});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/base/function_ref.h"

namespace inkling {

using Inputs = std::vector<Tensor<double>>;
using Function = FunctionRef<Tensor<double>(const Inputs&)>;

// The largest relative error of backward over all elements of all inputs. A random cotangent v turns the function's
// value into a number, L = sum v y, because a plain sum would hide errors (it is constant for softmax). dL/dx is
// compared with (4 D(h) - D(2h)) / 3, D(h) = (L(x+h) - L(x-h)) / 2h, with an error of order h^4. The step h
// starts at 2e-4 and becomes ten and a hundred times shorter while D(h) and D(2h) differ by more than 3e-7 of D(h); the
// step with the smallest difference counts. So a kink close to x, or the sharply bent norm of a short vector, needs no
// special inputs. An element's error is relative to the larger of the two values and of the root mean square of that
// input's gradient.
double gradient_error(Function f, const std::vector<Array<double>>& at, std::uint64_t seed = 1);

Inputs leaves_at(const std::vector<Array<double>>& at);

// The same for the parameters of a module, which are perturbed in place.
double parameter_gradient_error(FunctionRef<Tensor<double>()> f, const Inputs& parameters, std::uint64_t seed = 1);

// The same for the gradients of f as a function of its parameters and of the cotangent: gradients of gradients. The
// differences use gradients that are arrays, so this also compares them with the gradients that have a graph.
double second_gradient_error(FunctionRef<Tensor<double>()> f, const Inputs& parameters, std::uint64_t seed = 1);

// Standard normal numbers; `away_from_zero` pushes them at least 0.1 from 0, where relu has its kink.
Array<double> normal(const Shape& shape, std::uint64_t seed);
Array<double> away_from_zero(Array<double> x);
// The absolute values plus 0.5, for log, sqrt and divisors.
Array<double> positive(Array<double> x);

// A row of `inkling gradcheck`: an op, layer or model, over several shapes.
struct GradcheckRow {
    std::string name;
    std::function<double()> worst_error;
    double bound = 1e-6;
};

std::vector<GradcheckRow> gradcheck_ops();  // every op of the engine

}  // namespace inkling
