// A network with one hidden layer separates three spirals: stochastic gradient descent, by hand.
#include <inkling/engine/ops.h>
#include <inkling/engine/process/threads.h>
#include <inkling/nn/linear.h>
#include <inkling/nn/sequential.h>

#include <cmath>
#include <iostream>

int main() {
    using namespace inkling;
    set_threads(1);  // too little work for more threads
    constexpr std::size_t kClasses = 3, kEach = 100, kPoints = kClasses * kEach;
    Generator random{1337};
    const auto noise = Tensor<float>::randn({kPoints}, random.next()).value();
    Array<float> points({kPoints, 2});
    IdArray classes({kPoints});
    for (std::size_t i = 0; i < kPoints; ++i) {
        const float radius = static_cast<float>(i % kEach) / kEach;
        const float angle = 4 * radius + 2.1f * static_cast<float>(i / kEach) + 0.15f * noise(i);
        points(i, 0) = radius * std::cos(angle), points(i, 1) = radius * std::sin(angle);
        classes(i) = static_cast<std::int32_t>(i / kEach);
    }
    const Tensor<float> x(points);
    nn::Sequential<float> net(nn::Linear<float>(random, 2, 64), relu<float>, nn::Linear<float>(random, 64, kClasses));
    std::cout << net.to_string() << "\n";
    for (int step = 0; step <= 1000; ++step) {
        const Tensor<float> loss = cross_entropy(net.forward(x), classes);
        if (step % 200 == 0) std::cout << "step " << step << "  loss " << loss.item() << std::endl;
        loss.backward();
        for (auto& [name, p] : net.parameters()) p.value_in_place() -= 0.5f * p.grad();
        net.zero_grad();
    }
    std::size_t right = 0;
    const ConstArray<float> logits = net.forward(x).value();
    for (std::size_t i = 0; i < kPoints; ++i) {
        right += std::max_element(&logits(i, 0), &logits(i, 0) + kClasses) - &logits(i, 0) == classes(i);
    }
    std::cout << right << " of " << kPoints << " points are on their side\n";
}
