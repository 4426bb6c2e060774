#include <inkling/engine/ops.h>
#include <iostream>

int main() {
    using namespace inkling;
    auto w = Tensor<double>::full({3, 2}, 0.5, true);  // a parameter, (3, 2)
    const auto x = Tensor<double>::from({{1, -2}});    // one point, (1, 2), of class 2
    for (int step = 0; step < 3; ++step) {
        const Tensor<double> loss = cross_entropy(linear(x, w), IdArray({1}, 2));
        loss.backward();
        w.value_in_place() -= 0.1 * w.grad();
        w.zero_grad();
        std::cout << loss.item() << "\n";  // 1.09861, 0.794377, 0.590096
    }
}
