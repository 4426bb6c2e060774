// Every layer's gradients against finite differences: the rows of `inkling gradcheck`.
#include "nn/gradcheck.h"

#include "nn/linear.h"

TEST_CASE("gradcheck: every layer is right to 1e-7, with the same random numbers in every run", "[nn]") {
    const auto attention = nn::gradcheck_attention(), layers = nn::gradcheck_layers();
    REQUIRE(layers.size() >= 7);
    REQUIRE(attention.size() >= 17);
    for (const auto& [rows, bound] : {std::pair(layers, 1e-7), {attention, 1e-8}})
        for (const auto& row : rows) WITH_INFO(row.name, CHECK_ALL(row.bound <= 1e-6, row.worst_error() < bound));
    Generator random{77, 5};
    nn::Linear<double> linear(random, 2, 2);  // takes two streams
    CHECK_ALL(random.seed == 77, random.next_stream == 7);
    std::set<std::uint64_t> keys;
    const auto f = [&](const Inputs& in, Generator* own) {
        keys.insert(own->next().stream);
        return linear.forward(in[0]);
    };
    nn::module_gradient_error(linear, f, {normal({1, 2}, 1)});
    CHECK(keys == std::set<std::uint64_t>{0});
}

TEST_CASE("gradcheck: a layer whose gradient is wrong is found out, in inputs and in parameters", "[nn]") {
    Generator random{1, 0};
    nn::Linear<double> linear(random, 3, 2);
    const auto wrong_input = [&](const Inputs& in, Generator*) {  // forgets half of the input's gradient
        const Tensor<double> x = in[0];
        Tensor<double> y = linear.forward(x.detach());
        return record("wrong", y.value(), inputs(x),
                      [w = linear.weight.value()](const Array<double>& dy, Gradients<double>& grads) {
                          Array<double> dx({4, 3}, 0.0);
                          for (std::size_t i = 0; i < 4; ++i)
                              for (std::size_t j = 0; j < 3; ++j) dx.data()[i * 3 + j] = dy.data()[i * 2] * w.data()[j];
                          grads.add(0, dx);
                      });
    };
    CHECK(nn::module_gradient_error(linear, wrong_input, {normal({4, 3}, 1)}, nn::Orders::first) > 1e-2);
    // y = x^2 / 2: the gradient x is right, but the gradient of x is lost.
    const auto wrong_twice = [&](const Inputs& in, Generator*) {
        const auto gradient = [x = in[0].detach()](const Tensor<double>& dy, Gradients<double>& grads) {
            grads.add(0, mul(dy, x));
        };
        return record("wrong", mul(in[0], in[0]).value() * 0.5, inputs(in[0]), gradient);
    };
    CHECK(nn::module_gradient_error(linear, wrong_twice, {normal({4, 3}, 1)}, nn::Orders::first) < 1e-8);
    CHECK(nn::module_gradient_error(linear, wrong_twice, {normal({4, 3}, 1)}) > 1e-2);
    const auto detached = [&](const Inputs& in, Generator*) {  // reaches no parameter
        const Tensor<double> y = linear.forward(in[0]);
        return Tensor<double>(y.value());
    };
    CHECK_THROWS(nn::module_gradient_error(linear, detached, {normal({4, 3}, 1)}));
    CHECK(nn::module_gradient_error(linear, [&](const Inputs& in, Generator*) { return linear.forward(in[0]); },
                                    {normal({4, 3}, 1)}) < 1e-8);
}
