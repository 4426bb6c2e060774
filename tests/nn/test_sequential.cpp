// Sequential: layers and functions in order, under the names that PyTorch gives them.
#include "nn/sequential.h"

#include "models/files/state_dict.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "nn/norm.h"

static nn::Sequential<double> small_net(std::uint64_t seed) {
    Generator random{seed, 0};
    return nn::Sequential<double>(nn::Linear<double>(random, 2, 3), tanh<double>, nn::LayerNorm<double>(3),
                                  nn::Linear<double>(random, 3, 1, false));
}

TEST_CASE("sequential: runs layers and functions in order, and is saved and loaded in two calls", "[nn]") {
    auto net = small_net(1);
    const auto p = net.parameters();
    std::vector<std::string> names;
    for (const auto& [name, parameter] : p) names.push_back(name);
    CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias", "3.weight"});
    CHECK(net.size() == 4);

    const Tensor<double> x(normal({5, 2}, 1));
    const Tensor<double> h = tanh(linear(x, p[0].second, p[1].second));
    const Tensor<double> expected = linear(layer_norm(h, p[2].second, p[3].second, 1e-5), p[4].second);
    CHECK(same_bits(net.forward(x).value(), expected.value()));
    nn::Sequential<double> moved = std::move(net);
    CHECK(same_bits(moved.forward(x).value(), expected.value()));
    sum(moved.forward(x)).backward();
    for (const auto& [name, parameter] : moved.parameters())
        WITH_INFO(name, CHECK(sum(Tensor<double>(parameter.grad() * parameter.grad())).item() > 0));
    nn::Sequential<double> nothing;
    CHECK(same_bits(nothing.forward(x).value(), x.value()));
    const ScratchFolder folder;  // saved and loaded in two calls
    auto saved = small_net(1), other = small_net(2);
    CHECK_FALSE(same_bits(saved.forward(x).value(), other.forward(x).value()));
    models::save_state_dict(saved, folder.path("net.safetensors"));
    models::load_state_dict(other, folder.path("net.safetensors"));
    CHECK(same_bits(saved.forward(x).value(), other.forward(x).value()));
    Generator random{2, 0};
    nn::Sequential<double> inner(nn::Dropout<double>(0.5));
    nn::Sequential<double> own(std::move(inner), [](const Tensor<double>& ones) { return 2 * ones; });
    own.add(nn::Linear<double>(random, 4, 4));
    CHECK(own.parameters()[0].first == "2.weight");
    const auto ones = Tensor<double>::ones({3, 4});
    CHECK_THROWS_WITH(own.forward(ones), contains("Dropout"));
    Generator a{7, 0}, b{7, 0};
    const Tensor<double> y = own.forward(ones, &a);
    CHECK_ALL(a.next_stream == 1, same_bits(y.value(), own.forward(ones, &b).value()));
    own.eval();
    const auto own_parameters = own.parameters();
    CHECK(same_bits(own.forward(ones).value(),
                    linear(2 * ones, own_parameters[0].second, own_parameters[1].second).value()));
}
