#include <inkling/engine/ops.h>
#include <inkling/nn/linear.h>
#include <inkling/nn/sequential.h>
#include <inkling/train/optimizers/adamw.h>

#include <iostream>

int main() {
    using namespace inkling;
    Generator random{1337};
    nn::Sequential<float> net{nn::Linear<float>(random, 2, 16), relu<float>, nn::Linear<float>(random, 16, 2)};
    const auto points = Tensor<float>::from({{0, 0}, {0, 1}, {1, 0}, {1, 1}});  // xor: (4, 2)
    const IdArray classes = xt::xarray<int>{0, 1, 1, 0};

    nn::FlatParameters<float> flat(net);
    train::AdamW<float> adamw(flat, {.weight_decay = 0});
    for (int step = 0; step <= 200; ++step) {
        const Tensor<float> loss = cross_entropy(net.forward(points), classes);
        flat.zero_gradients();
        loss.backward();
        adamw.step(0.02);
        if (step % 100 == 0) std::cout << loss.item() << "\n";  // 0.69152, 0.00767793, 0.00221069
    }
}
