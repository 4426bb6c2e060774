// An op that the library does not have: snake (Ziyin et al. 2020, "Neural Networks Fail to Learn Periodic Functions"),
//   y = x + sin(a x)^2 / a      dx = dy (1 + sin(2 a x))
// docs/adding.md says what a backward may do with dy, and how gradients are written.
#include <inkling/engine/autograd/backward.h>
#include <inkling/engine/gradcheck/gradcheck.h>
#include <inkling/engine/ops.h>

#include <iostream>
#include <xtensor/xmath.hpp>

using namespace inkling;

template <class T>
Tensor<T> snake(const Tensor<T>& x, T a) {
    check_defined("snake", x);
    check(a > 0, "snake: expected a frequency above 0, got {}", a);
    Array<T> y = x.value() + xt::square(xt::sin(a * x.value())) / a;
    return record("snake", std::move(y), inputs(x), [a, x = Saved(x)](const Array<T>& dy, Gradients<T>& grads) {
        grads.add(0, dy * (1 + xt::sin(2 * a * *x)));
    });
}

int main() {
    const auto x = Tensor<double>::from({{-1, -0.5, 0}, {0.5, 1, 2}}, true);
    const Tensor<double> y = snake(x, 2.0);
    std::cout << y << "\n";
    sum(y).backward();
    std::cout << "gradient\n" << Tensor<double>(x.grad()) << "\n";
    const double error = gradient_error([](const auto& in) { return snake(in[0], 2.0); }, {normal({3, 4}, 1)});
    std::cout << "worst relative error of the gradient, against finite differences: " << error << "\n";
    try {
        snake(x, -1.0);
    } catch (const Error& e) {
        std::cout << e.what() << "\n";
    }
}
