// The attention family on numbers worked out by hand or by others: known inputs, known outputs, and what each form
// does and does not see.
#include <numeric>

#include "engine/ops.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"
#include "nn/attention/self_attention.h"
#include "nn/init.h"
#include "nn/positions.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

// Six tokens of width 3.
template <class T>
Tensor<T> six_tokens() {
    return Tensor<T>(
        of<T>({6, 3}, {.43, .15, .89, .55, .87, .66, .57, .85, .64, .22, .58, .33, .77, .25, .10, .05, .80, .55}));
}

// The weight of a linear layer (out, in), given as the (in, out) that x is multiplied with: entry n, row by row, is
// sin(n + s) / 2.
template <class T>
void set_to_sine(nn::Linear<T>& linear, double s) {
    const std::size_t out = linear.weight.dim(0), in = linear.weight.dim(1);
    T* const w = linear.weight.value_in_place().data();
    for (std::size_t n = 0; n < in * out; ++n)
        w[n % out * in + n / out] = static_cast<T>(std::sin(static_cast<double>(n) + s) / 2);
}

template <class Layer>
void set_all_to_sine(Layer& layer) {
    set_to_sine(layer.W_query, 0), set_to_sine(layer.W_key, 1), set_to_sine(layer.W_value, 2);
}

// To four decimals.
template <class A>
void check_rounded(const A& actual, const std::vector<double>& expected) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("element " << i);
        CHECK(std::abs(static_cast<double>(actual.data()[i]) - expected[i]) < 0.5e-4 + 1e-6);
    }
}

// x (L, d) with its rows in another order.
Array<double> reordered(const ConstArray<double>& x, const std::vector<std::size_t>& order) {
    Array<double> y(x.shape());
    for (std::size_t i = 0; i < order.size(); ++i) {
        y.sliced(0, i, i + 1) = x.sliced(0, order[i], order[i] + 1);
    }
    return y;
}

}  // namespace

TEMPLATE_TEST_CASE("simple_self_attention: six tokens", "[nn]", float, double) {
    const auto [y, weights] = nn::simple_self_attention(six_tokens<TestType>());
    check_rounded(weights.value().sliced(0, 1, 2).contiguous(), {.1385, .2379, .2333, .1240, .1082, .1581});
    check_rounded(y.value(), {.4421, .5931, .5790, .4419, .6515, .5683, .4431, .6496, .5671, .4304, .6298, .5510, .4671,
                              .5910, .5266, .4177, .6503, .5645});
}

TEMPLATE_TEST_CASE("SelfAttention: six tokens, known weights", "[nn]", float, double) {
    Generator random{1, 0};
    nn::SelfAttention<TestType> attention(random, 3, 2);
    set_all_to_sine(attention);
    check_rounded(attention.forward(six_tokens<TestType>()).output.value(),
                  {-.1077, -.0773, -.0967, -.0766, -.0963, -.0764, -.0968, -.0765, -.0898, -.0726, -.1005, -.0785});
}

TEMPLATE_TEST_CASE("CausalAttention: six tokens, known weights, both ways to the mask", "[nn]", float, double) {
    Generator random{1, 0};
    for (const auto how : {nn::CausalMask::fill_minus_infinity, nn::CausalMask::renormalize}) {
        nn::CausalAttention<TestType> attention(random, 3, 2, 6, 0.0, false, how);
        set_all_to_sine(attention);
        const auto [y, weights] = attention.forward(six_tokens<TestType>());
        check_rounded(y.value(),
                      {.0144, .2508, -.0796, .0421, -.1039, -.0247, -.1194, -.0574, -.0403, -.0491, -.1005, -.0785});
        CHECK(weights.value().data()[0] == 1);  // the first token sees itself alone
    }
}

TEMPLATE_TEST_CASE("AdditiveAttention: equal keys are averaged over the valid lengths, whatever the weights", "[nn]",
                   float, double) {
    using T = TestType;
    std::vector<double> numbers(80);
    for (std::size_t i = 0; i < 80; ++i) numbers[i] = static_cast<double>(i % 40);
    const Tensor<T> keys(Array<T>({2, 10, 2}, T{1})), values(of<T>({2, 10, 4}, numbers));
    nn::ValidLengths valid_lens({2});
    valid_lens.data()[0] = 2, valid_lens.data()[1] = 6;
    for (const std::uint64_t seed : {1, 2, 3}) {
        Generator random{seed, 0};
        const nn::AdditiveAttention<T> attention(random, 2, 20, 8, 0.0);
        const Tensor<T> queries(random_array<T>({2, 1, 20}, seed));
        const auto [y, weights] = attention.forward(queries, keys, values, valid_lens);
        CHECK(to_string(y.shape()) == "(2, 1, 4)");
        CHECK(to_string(weights.shape()) == "(2, 1, 10)");
        check_close(y.value(), of<T>({2, 1, 4}, {2, 3, 4, 5, 10, 11, 12, 13}), 1e-6);
    }
}

TEMPLATE_TEST_CASE("softmax: of 2, 1 and 0.1", "[nn]", float, double) {
    check_rounded(softmax(Tensor<TestType>(of<TestType>({2, 1, .1}))).value(), {.6590, .2424, .0986});
}

TEST_CASE("scaled products of random vectors: variance 1 at any width, where plain ones have the width's", "[nn]") {
    for (const std::size_t d : {4, 64, 512}) {
        const std::size_t n = 200;  // n * n products, of which each row and column shares a vector
        const Tensor<double> q(normal({1, n, d}, d)), k(normal({1, n, d}, d + 1));
        const auto variance = [](const ConstArray<double>& x) {
            const double mean = std::accumulate(x.data(), x.data() + x.size(), 0.0) / static_cast<double>(x.size());
            double squares = 0;
            for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(x.data()[i] - mean, 2);
            return squares / static_cast<double>(x.size());
        };
        CHECK(variance(nn::DotScore<double>().forward(q, k).value()) / static_cast<double>(d) ==
              Approx(1).epsilon(0.1));
        CHECK(variance(nn::ScaledDotScore<double>().forward(q, k).value()) == Approx(1).epsilon(0.1));
    }
}

TEST_CASE("shapes: outputs and weights of every form", "[nn]") {
    Generator random{1, 0};
    const auto shapes = [](const auto& attended) {
        return to_string(attended.output.shape()) + " " + to_string(attended.weights.shape());
    };
    const Tensor<float> x(Array<float>({2, 10, 512}, 0.1f)), narrow(Array<float>({2, 10, 6}, 0.1f));
    const Tensor<float> query(Array<float>({2, 3, 6}, 0.1f)), wide(Array<float>({2, 10, 8}, 0.1f));
    CHECK(shapes(nn::SelfAttention<float>(random, 512, 64, 64).forward(x)) == "(2, 10, 64) (2, 10, 10)");
    CHECK(shapes(nn::SelfAttention<float>(random, 512, 32, 48).forward(x)) == "(2, 10, 48) (2, 10, 10)");
    CHECK(shapes(nn::simple_self_attention(x)) == "(2, 10, 512) (2, 10, 10)");
    CHECK(shapes(nn::CausalAttention<float>(random, 6, 4, 16, 0.0).forward(narrow)) == "(2, 10, 4) (2, 10, 10)");
    CHECK(shapes(nn::MultiHeadAttentionWrapper<float>(random, 6, 4, 16, 0.0, 3).forward(narrow)) ==
          "(2, 10, 12) (2, 3, 10, 10)");
    const nn::MultiHeadAttention<float> multi(random, 6, 8, 16, 0.0, 4);
    CHECK(shapes(multi.forward(narrow)) == "(2, 10, 8) (2, 4, 10, 10)");
    CHECK(shapes(multi.forward(query, narrow, narrow)) == "(2, 3, 8) (2, 4, 3, 10)");
    CHECK_FALSE(multi.forward(narrow, nn::NeedWeights::no).weights.defined());
    const nn::Attention<float> general(std::make_unique<nn::BilinearScore<float>>(random, 6, 8), 0.0);
    CHECK(shapes(general.forward(query, wide, x)) == "(2, 3, 512) (2, 3, 10)");
}

TEST_CASE("self-attention: tokens in another order give outputs in that order, unless they carry positions", "[nn]") {
    Generator random{4, 0};
    const std::vector<std::size_t> order = {3, 0, 5, 1, 4, 2};
    const nn::SelfAttention<double> attention(random, 4, 5);
    const Array<double> x = normal({6, 4}, 1);
    const auto plain = [&](const ConstArray<double>& at) {
        return attention.forward(Tensor<double>(at)).output.value();
    };
    const auto simple = [](const ConstArray<double>& at) {
        return nn::simple_self_attention(Tensor<double>(at)).output.value();
    };
    check_close(plain(reordered(x, order)), reordered(plain(x), order), 1e-14);
    check_close(simple(reordered(x, order)), reordered(simple(x), order), 1e-14);

    const auto differs = [&](const auto& f) {
        const ConstArray<double> a = f(reordered(x, order)), b = reordered(f(x), order);
        double most = 0;
        for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
        return most > 1e-2;
    };
    const Array<double> sinusoidal = nn::sinusoidal_positions<double>(6, 4);
    nn::LearnedPositions<double> learned(random, 6, 4);
    nn::fill_normal(learned.weight, 1, {4, 1});
    CHECK(differs([&](const ConstArray<double>& at) { return plain(Array<double>(at + sinusoidal)); }));
    CHECK(differs([&](const ConstArray<double>& at) { return plain(learned.forward(Tensor<double>(at)).value()); }));
    CHECK(differs([&](const ConstArray<double>& at) {
        return nn::simple_self_attention(rotary(Tensor<double>(at))).output.value();
    }));
}
