#include "engine/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "engine/backward.h"
#include "engine/random.h"

namespace inkling {
namespace {

double weighted_sum(const ConstArray<double>& y_any, const Array<double>& v) {
    const ConstArray<double> y = y_any.contiguous();
    double total = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += y.data()[i] * v.data()[i];
    return total;
}

// dL/dx for each element of x, which is moved to and fro in place.
std::vector<double> finite_differences(const std::function<double()>& loss, double* x, std::size_t n) {
    std::vector<double> slope(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double here = x[i], h = 5e-4 * std::max(1.0, std::abs(here));
        const auto at = [&](double step) {
            x[i] = here + step;
            return loss();
        };
        slope[i] = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
        x[i] = here;
    }
    return slope;
}

double mean_square(const std::vector<double>& slope) {
    double squares = 0;
    for (const double s : slope) squares += s * s;
    return squares / std::max<double>(1.0, static_cast<double>(slope.size()));
}

// `least`: a gradient this small is compared as if it were this large.
double worst_relative_error(const Array<double>& gradient_any, const std::vector<double>& slope, double least) {
    const Array<double> gradient = gradient_any.contiguous();
    const double typical = std::max(least, std::sqrt(mean_square(slope)));
    double worst = 0;
    for (std::size_t i = 0; i < slope.size(); ++i) {
        const double g = gradient.data()[i];
        if (!std::isfinite(g) || !std::isfinite(slope[i])) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, std::abs(g - slope[i]) / std::max({std::abs(g), std::abs(slope[i]), typical}));
    }
    return worst;
}

}  // namespace

double parameter_gradient_error(const std::function<Tensor<double>()>& f, const std::vector<Tensor<double>>& parameters,
                                std::uint64_t seed) {
    for (Tensor<double> p : parameters) p.zero_grad();
    const Tensor<double> y = f();
    const Array<double> v = normal(y.shape(), seed ^ 0xc07a46e5);
    backward(y, v);
    const auto loss = [&] {
        const NoGrad no_grad;
        return weighted_sum(f().value(), v);
    };
    std::vector<std::vector<double>> slopes;
    double largest = 0;
    for (Tensor<double> p : parameters) {
        check(p.value().is_contiguous(), "gradcheck: a parameter must be contiguous, got shape {}", p.shape());
        slopes.push_back(finite_differences(loss, p.value_in_place().data(), p.size()));
        largest = std::max(largest, mean_square(slopes.back()));
    }
    // A gradient that is zero in theory, as that of a key's bias, is rounding noise beside the others.
    const double least = std::max(1e-5, 1e-2 * std::sqrt(largest));
    double worst = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        worst = std::max(worst, worst_relative_error(parameters[i].grad(), slopes[i], least));
    }
    return worst;
}

double gradient_error(const Function& f, const std::vector<Array<double>>& at, std::uint64_t seed) {
    Inputs leaves;
    for (const auto& x : at) leaves.emplace_back(x.clone(), true);
    return parameter_gradient_error([&] { return f(leaves); }, leaves, seed);
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
