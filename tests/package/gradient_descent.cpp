#include <inkling/engine/backward.h>
#include <inkling/engine/ops.h>

#include <iostream>

int main() {
    using namespace inkling;
    Tensor<double> w(Array<double>({3, 2}, 0.5), true);                // a parameter, (3, 2)
    Tensor<double> x(Array<double>(xt::xarray<double>{{1.0, -2.0}}));  // one point, (1, 2), of class 2
    for (int step = 0; step < 3; ++step) {
        Tensor<double> loss = cross_entropy(linear(x, w), IdArray({1}, 2));
        backward(loss);
        w.value_in_place() -= 0.1 * w.grad();
        w.zero_grad();
        std::cout << loss.item() << "\n";  // 1.09861, 0.794377, 0.590096
    }
}
