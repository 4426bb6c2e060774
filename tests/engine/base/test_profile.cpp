// The lap timer behind `inkling bench --profile`, and values that are recomputed instead of saved.
#include "engine/base/profile.h"

TEST_CASE("profile: the laps of every op add up to the time, and each thread has its own", "[engine]") {
    const Tensor<float> a(random_array<float>({40, 30}, 1), true), b(random_array<float>({30, 20}, 2), true);
    const auto start = std::chrono::steady_clock::now();
    profile::start();
    for (int i = 0; i < 3; ++i) backward(sum(tanh(matmul(a, b))));
    const auto laps = profile::stop();
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::vector<std::string> names;
    double seconds = 0;
    for (const auto& [name, lap] : laps) names.push_back(name), seconds += lap.seconds;
    CHECK(names == std::vector<std::string>{"matmul", "matmul'", "sum", "sum'", "tanh", "tanh'"});
    CHECK_ALL(seconds > 0, seconds <= elapsed, laps.at("matmul").calls == 3);
    CHECK_ALL(laps.at("matmul").flops == 3 * 2.0 * 40 * 20 * 30, laps.at("matmul'").flops == 3 * 4.0 * 40 * 20 * 30);
    CHECK_ALL(laps.at("tanh").bytes == 3 * 2.0 * 40 * 20 * 4, laps.at("tanh").flops == 0);
    const Tensor<float> x(random_array<float>({2, 4, 9, 7}, 3), true), w(random_array<float>({6, 2, 3, 3}, 4), true);
    profile::start();
    backward(sum(conv2d(x, w, {}, {.groups = 2})));  // 7 x 5 windows
    const auto convolutions = profile::stop();
    CHECK(convolutions.at("conv2d").flops == 2.0 * 2 * 6 * 2 * 9 * 35);
    CHECK(convolutions.at("conv2d'").flops == 2 * convolutions.at("conv2d").flops);
    matmul(a, b);
    profile::start();
    CHECK(profile::stop().empty());  // nothing is left of what ran before
    const auto calls_of = [](int runs) {
        omp_set_num_threads(1);
        const Tensor<float> square(random_array<float>({8, 8}, 1), true);
        profile::start();
        for (int i = 0; i < runs; ++i) backward(sum(matmul(square, square)));
        const auto own = profile::stop();
        return own.at("matmul").calls == static_cast<std::uint64_t>(runs) &&
               own.at("matmul'").flops == runs * 4.0 * 8 * 8 * 8;
    };
    bool right[2] = {};
    std::thread one([&] { right[0] = calls_of(2000); }), two([&] { right[1] = calls_of(3000); });
    one.join(), two.join();
    CHECK_ALL(right[0], right[1]);
}

TEST_CASE("recompute: large values of norms and activations are made again, with the same bits", "[engine]") {
    const std::size_t rows = kWorthRecomputing / sizeof(float) / 64;
    const Array<float> x = random_array<float>({rows, 64}, 1), gain = random_array<float>({64}, 2),
                       bias = random_array<float>({64}, 3), w = random_array<float>({8, 64}, 4),
                       dy = random_array<float>({rows, 8}, 5);
    using Op = Tensor<float> (*)(const std::vector<Tensor<float>>&);
    const std::vector<Op> ops = {[](const auto& in) { return layer_norm(in[0], in[1], in[2]); },
                                 [](const auto& in) { return rms_norm(in[0], in[1]); },
                                 [](const auto& in) { return gelu(in[0]); }, [](const auto& in) { return silu(in[0]); },
                                 [](const auto& in) { return mul(silu(in[0]), mul(in[0], in[1])); }};
    for (const Op op : ops) {
        const auto f = [&](bool keep) {
            return [&, keep](const auto& in) {
                const Tensor<float> h = op(in);
                CHECK(h.node()->output->recompute != nullptr);
                if (keep) h.node()->output->recompute = nullptr;
                return linear(reshape(h, {rows / 2, 2, 64}), in[3]);
            };
        };
        const Array<float> cotangent = dy.reshaped({rows / 2, 2, 8});
        const auto again = run<float>(f(false), {x, gain, bias, w}, cotangent),
                   kept = run<float>(f(true), {x, gain, bias, w}, cotangent);
        for (std::size_t i = 0; i < 4; ++i) CHECK(same_bits(again.grads[i], kept.grads[i]));
        const Tensor<float> small = op({Tensor<float>(random_array<float>({rows / 2, 64}, 1), true),
                                        Tensor<float>(gain, true), Tensor<float>(bias, true)});
        CHECK(recomputation(small) == nullptr);
    }
    const auto bytes_kept = [&](bool keep) {
        const Tensor<float> leaf(x, true), weight(w, true);
        const std::size_t before = pool_statistics().bytes_in_use;
        Tensor<float> h = gelu(leaf);
        if (keep) h.node()->output->recompute = nullptr;
        const Tensor<float> y = linear(h, weight);
        h = {};
        return pool_statistics().bytes_in_use - before;
    };
    CHECK(bytes_kept(true) >= bytes_kept(false) + kWorthRecomputing);
}
