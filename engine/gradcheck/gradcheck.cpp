#include "engine/gradcheck/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "engine/autograd/backward.h"
#include "engine/autograd/gradients.h"
#include "engine/base/random.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

double weighted_sum(const ConstArray<double>& y_any, const Array<double>& v) {
    const ConstArray<double> y = y_any.contiguous();
    double total = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += y.data()[i] * v.data()[i];
    return total;
}

// dL/dx for each element of x; moves each element slightly in place.
std::vector<double> finite_differences(FunctionRef<double()> loss, double* x, std::size_t n) {
    std::vector<double> gradient(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double here = x[i], unit = std::max(1.0, std::abs(here));
        const auto central = [&](double h) {
            x[i] = here + h;
            const double above = loss();
            x[i] = here - h;
            return (above - loss()) / (2 * h);
        };
        double smallest_gap = std::numeric_limits<double>::infinity();
        for (const double h : {2e-4 * unit, 2e-5 * unit, 2e-6 * unit}) {
            const double near = central(h), far = central(2 * h), gap = std::abs(near - far);
            if (!(gap >= smallest_gap)) smallest_gap = gap, gradient[i] = (4 * near - far) / 3;
            if (!(gap > 3e-7 * std::abs(near))) break;
        }
        x[i] = here;
    }
    return gradient;
}

double mean_square(const std::vector<double>& x) {
    double squares = 0;
    for (const double v : x) squares += v * v;
    return squares / std::max<double>(1.0, static_cast<double>(x.size()));
}

// A gradient below `least` is compared as if it were as large as `least`.
double worst_relative_error(const Array<double>& gradient_any, const std::vector<double>& expected, double least) {
    const Array<double> gradient = gradient_any.contiguous();
    const double typical = std::max(least, std::sqrt(mean_square(expected)));
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double g = gradient.data()[i];
        if (!std::isfinite(g) || !std::isfinite(expected[i])) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, std::abs(g - expected[i]) / std::max({std::abs(g), std::abs(expected[i]), typical}));
    }
    return worst;
}

}  // namespace

double parameter_gradient_error(FunctionRef<Tensor<double>()> f, const Inputs& parameters, std::uint64_t seed) {
    for (Tensor<double> p : parameters) p.zero_grad();
    const Tensor<double> y = f();
    const Array<double> v = normal(y.shape(), seed ^ 0xc07a46e5);
    backward(y, v);
    const auto loss = [&] {
        const NoGrad no_grad;
        return weighted_sum(f().value(), v);
    };
    std::vector<std::vector<double>> expected;
    double largest = 0;
    for (Tensor<double> p : parameters) {
        check(p.value().is_contiguous(), "gradcheck: a parameter must be contiguous, got shape {}", p.shape());
        expected.push_back(finite_differences(loss, p.value_in_place().data(), p.size()));
        largest = std::max(largest, mean_square(expected.back()));
    }
    // A gradient that is zero in theory, such as that of a key's bias, consists only of rounding errors.
    const double least = std::max(1e-5, 1e-2 * std::sqrt(largest));
    double worst = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        worst = std::max(worst, worst_relative_error(parameters[i].grad(), expected[i], least));
    }
    return worst;
}

Inputs leaves_at(const std::vector<Array<double>>& at) {
    Inputs leaves;
    for (const auto& x : at) leaves.emplace_back(x.clone(), true);
    return leaves;
}

double gradient_error(Function f, const std::vector<Array<double>>& at, std::uint64_t seed) {
    const Inputs leaves = leaves_at(at);
    return parameter_gradient_error([&] { return f(leaves); }, leaves, seed);
}

double second_gradient_error(FunctionRef<Tensor<double>()> f, const Inputs& parameters, std::uint64_t seed) {
    const Tensor<double> dy(normal(f().shape(), seed ^ 0x5ec0d), true);
    const auto first = [&] {
        const bool create_graph = !NoGrad::active();  // finite differences run under NoGrad
        const EnableGrad scope;
        Inputs flat{reshape(dy, -1)};  // gives constant gradients a graph, too
        for (const Tensor<double>& g : gradients(f(), parameters, {.dy = dy, .create_graph = create_graph}))
            flat.push_back(reshape(g, -1));
        return concatenate(flat, 0);
    };
    Inputs all = parameters;
    all.push_back(dy);
    return parameter_gradient_error(first, all, seed);
}

Array<double> normal(const Shape& shape, std::uint64_t seed) {
    Array<double> x(shape);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = random_normal({seed, 0}, i);
    return x;
}

Array<double> away_from_zero(Array<double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] += x.data()[i] < 0 ? -0.1 : 0.1;
    return x;
}

Array<double> positive(Array<double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::abs(x.data()[i]) + 0.5;
    return x;
}

}  // namespace inkling
