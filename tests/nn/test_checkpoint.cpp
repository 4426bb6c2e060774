// Activation checkpointing: the same gradients, the same dropout, less memory.
#include "nn/checkpoint.h"

#include "nn/mlp.h"
#include "tests/models/architectures.h"

TEST_CASE("checkpoint: a model has the same loss and gradients, to the last bit, and forward keeps less", "[nn]") {
    const std::string arch = GENERATE(as<std::string>(), "gpt2", "nanochat", "llama");
    const IdArray ids = random_ids({8, 16}, 29, 1), targets = random_ids({8, 16}, 29, 2);
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        INFO(arch);
        const WithPrecision scope(precision);
        const auto trained = [&](bool checkpointing, std::size_t& kept) {
            models::Transformer<float> model(shape_of(arch.c_str(), 29, 4, 2, 32, 16, 0.2, true), Generator{5, 0});
            model.checkpoint_activations = checkpointing;
            Generator random{6, 0};
            const std::size_t before = pool_statistics().bytes_in_use;
            const Tensor<float> loss = model.loss(ids, targets, &random);
            kept = pool_statistics().bytes_in_use - before;
            const std::uint64_t after_forward = random.next_stream;
            backward(loss);
            CHECK(random.next_stream == after_forward);
            CHECK(random.next_stream == (arch == "gpt2" ? 1u + 4 * 3 : 4u));  // a mask each, once
            std::vector<ConstArray<float>> result{loss.value()};
            for (const auto& [name, p] : model.parameters()) result.emplace_back(p.grad());
            return result;
        };
        std::size_t kept_all = 0, kept_few = 0;
        const auto all = trained(false, kept_all), few = trained(true, kept_few);
        REQUIRE(all.size() == few.size());
        for (std::size_t i = 0; i < all.size(); ++i) CHECK(same_bits(all[i], few[i]));
        CHECK(kept_few < kept_all / 3);
    }
}

TEST_CASE("checkpoint: no gradients of gradients, and without a gradient to want it is just f", "[nn]") {
    const Tensor<double> x(random_array<double>({3}, 1), true), w(random_array<double>({3}, 2), true);
    const auto f = [&](const Tensor<double>& in, Generator*) { return mul(in, w); };
    const Tensor<double> y = sum(nn::checkpoint<double>(f, x));
    CHECK_THAT(error_of<Error>([&] { gradients(y, {x}, {.create_graph = true}); }),
               contains("'checkpoint' cannot be differentiated twice"));
    check_equal(w.grad(), {0, 0, 0});
    int calls = 0;
    const auto counted = [&](const Tensor<double>& given, Generator*) {
        ++calls;
        return tanh(given);
    };
    const Tensor<double> constant(random_array<double>({3}, 1));
    CHECK_FALSE(nn::checkpoint<double>(counted, constant).requires_grad());
    CHECK(calls == 1);
    const Tensor<double> in(random_array<double>({3}, 1), true);
    {
        const NoGrad none;
        CHECK_FALSE(nn::checkpoint<double>(counted, in).requires_grad());
    }
    CHECK(calls == 2);
    Tensor<double> out = nn::checkpoint<double>(counted, in);
    CHECK(calls == 3);
    backward(sum(mul(out, out)));
    CHECK(calls == 4);
    const auto direct = run<double>([](const auto& at) { return sum(mul(tanh(at[0]), tanh(at[0]))); }, {in.value()},
                                    Array<double>(Shape{}, 1.0));
    CHECK(same_bits(in.grad(), direct.grads[0]));
}
