// Multi-head attention: what may see what, and that its forms agree.
#include "engine/ops.h"
#include "nn/attention/multi_head.h"
#include "nn/init.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;
using Attention = nn::MultiHeadAttention<double>;

namespace {

// The same input with other values from position `from` on.
Array<double> changed_from(const ConstArray<double>& x, std::size_t from, std::uint64_t seed) {
    Array<double> y = x.clone();
    Array<double> end = y.sliced(1, from, y.dim(1));
    const Array<double> other = normal(end.shape(), seed);
    copy_into(end, other);
    return y;
}

// W_query, W_key, W_value below each other are c_attn.
void copy_weights(const Attention& from, Attention& to) {
    std::size_t row = 0;
    const std::size_t width = from.out_proj.weight.dim(0);
    for (const auto* part : {&*from.W_query, &*from.W_key, &*from.W_value}) {
        Array<double> weight = to.c_attn->weight.value_in_place().sliced(0, row, row + width);
        Array<double> bias = to.c_attn->bias.value_in_place().sliced(0, row, row + width);
        copy_into(weight, part->weight.value());
        copy_into(bias, part->bias.value());
        row += width;
    }
    to.out_proj.weight.value_in_place() = from.out_proj.weight.value();
    to.out_proj.bias.value_in_place() = from.out_proj.bias.value();
}

}  // namespace

TEST_CASE("attention: heads are split and merged without loss", "[nn]") {
    const Tensor<double> x(of<double>({1, 2, 4}, {0, 1, 2, 3, 10, 11, 12, 13}));
    const Tensor<double> split = nn::split_heads(x, 2);
    CHECK(to_string(split.shape()) == "(1, 2, 2, 2)");
    check_equal(split.value(), {0, 1, 10, 11, 2, 3, 12, 13});
    check_equal(nn::merge_heads(split).value(), {0, 1, 2, 3, 10, 11, 12, 13});
}

TEST_CASE("attention: later tokens do not change earlier outputs", "[nn]") {
    Generator random{1, 0};
    const Attention separate(random, 6, 8, 7, 0, 4),
        packed(random, {.width = 6, .context_length = 7, .num_heads = 3, .dropout = 0.0});
    for (const Attention* attention : {&separate, &packed}) {
        const Array<double> x = normal({2, 7, 6}, 5);
        const ConstArray<double> y = attention->forward(Tensor<double>(x)).output.value();
        for (std::size_t from = 1; from < 7; ++from) {
            const ConstArray<double> z = attention->forward(Tensor<double>(changed_from(x, from, from))).output.value();
            INFO("changed from " << from);
            CHECK(same_bits(z.sliced(1, 0, from), y.sliced(1, 0, from)));
            CHECK_FALSE(same_bits(z.sliced(1, from, from + 1), y.sliced(1, from, from + 1)));
        }
        // and a shorter text gives the beginning of a longer one's outputs
        const ConstArray<double> shorter = attention->forward(Tensor<double>(x.sliced(1, 0, 4))).output.value();
        check_close(shorter, y.sliced(1, 0, 4), 1e-14);
    }
}

TEST_CASE("attention: weights are exactly 0 above the diagonal, and rows sum to 1", "[nn]") {
    Generator random{1, 0};
    const Attention attention(random, 6, 8, 7, 0, 2);
    const ConstArray<double> w = attention.forward(Tensor<double>(normal({2, 5, 6}, 5))).weights.value().contiguous();
    REQUIRE(to_string(w.shape()) == "(2, 2, 5, 5)");
    for (std::size_t row = 0; row < w.size() / 5; ++row) {
        const double* const at = w.data() + row * 5;
        double total = 0;
        for (std::size_t j = 0; j < 5; ++j) {
            total += at[j];
            if (j > row % 5) CHECK(at[j] == 0);
            if (j <= row % 5) CHECK(at[j] > 0);
        }
        CHECK(total == Approx(1).epsilon(1e-14));
    }
    CHECK(w.data()[0] == 1);  // the first token sees itself alone
}

TEST_CASE("attention: one head of known weights gives known values", "[nn]") {
    Generator random{1, 0};
    Attention attention(random, 2, 2, 2, 0, 1);
    const Array<double> identity = of<double>({2, 2}, {1, 0, 0, 1});
    for (auto* part : {&*attention.W_query, &*attention.W_key, &*attention.W_value, &attention.out_proj})
        part->weight.value_in_place() = identity;
    std::fill_n(attention.out_proj.bias.value_in_place().data(), 2, 0.5);
    const auto [y, w] = attention.forward(Tensor<double>(of<double>({1, 2, 2}, {1, 0, 0, 2})));
    // scores of the second token: 0 and 4, over sqrt(2)
    const double p = 1 / (1 + std::exp(4 / std::sqrt(2.0)));
    check_close(w.value(), of<double>({1, 1, 2, 2}, {1, 0, p, 1 - p}), 1e-14);
    check_close(y.value(), of<double>({1, 2, 2}, {1.5, 0.5, p + 0.5, 2 * (1 - p) + 0.5}), 1e-14);
}

TEST_CASE("attention: the packed and the separate form agree with the same weights", "[nn]") {
    Generator random{8, 0};
    Attention separate(random, 6, 6, 9, 0.25, 3, true),
        packed(random, {.width = 6, .context_length = 9, .num_heads = 3, .dropout = 0.25});
    copy_weights(separate, packed);
    const Array<double> x = normal({2, 9, 6}, 3), dy = normal({2, 9, 6}, 4);
    const auto run = [&](Attention& attention) {
        random = {21, 0};  // the same dropout of weights
        const Tensor<double> in(x, true);
        const auto [y, w] = attention.forward(in, nn::NeedWeights::yes, &random);
        backward(y, dy);
        return std::vector<ConstArray<double>>{y.value(), w.value(), in.grad(), attention.out_proj.weight.grad()};
    };
    for (const bool training : {true, false}) {
        separate.train(training), packed.train(training);
        const auto a = run(separate), b = run(packed);
        for (std::size_t i = 0; i < a.size(); ++i) check_close(a[i], b[i], 1e-13, "result " + std::to_string(i));
        separate.zero_grad(), packed.zero_grad();
    }
}

TEST_CASE("attention: dropout of weights acts in training alone", "[nn]") {
    Generator random{2, 0};
    Attention attention(random, 4, 4, 16, 0.5, 2), none(random, 4, 4, 16, 0, 2);
    for (std::size_t i = 0; i < attention.parameters().size(); ++i)
        attention.parameters()[i].second.value_in_place() = none.parameters()[i].second.value();
    const Tensor<double> x(normal({2, 16, 4}, 1));
    const auto trained = attention.forward(x, nn::NeedWeights::yes, &random);
    CHECK_FALSE(same_bits(trained.output.value(), none.forward(x).output.value()));
    CHECK_FALSE(same_bits(trained.output.value(), attention.forward(x, nn::NeedWeights::yes, &random).output.value()));
    check_close(trained.weights.value(), none.forward(x).weights.value(), 1e-14);  // handed out before dropout
    attention.eval();
    CHECK(same_bits(attention.forward(x).output.value(), none.forward(x).output.value()));
}

TEST_CASE("attention: cross attention ignores padded keys and values", "[nn]") {
    Generator random{1, 0};
    const Attention attention(random, 4, 6, 1, 0, 2);
    const Array<double> query = normal({2, 3, 4}, 1), key = normal({2, 5, 4}, 2), value = normal({2, 5, 4}, 3);
    MaskArray padding({2, 1, 1, 5}, 1);
    padding.data()[4] = padding.data()[8] = padding.data()[9] = 0;  // the last of row 0, the last two of row 1
    const auto run = [&](const Array<double>& k, const Array<double>& v) {
        return attention.forward(Tensor<double>(query), Tensor<double>(k), Tensor<double>(v), padding);
    };
    const auto [y, weights] = run(key, value);
    CHECK(to_string(y.shape()) == "(2, 3, 6)");
    const ConstArray<double> w = weights.value().contiguous();
    for (std::size_t i = 0; i < w.size(); ++i) {
        const std::size_t row = i / 30, column = i % 5;
        if (column >= (row == 0 ? 4u : 3u))
            CHECK(w.data()[i] == 0);
        else
            CHECK(w.data()[i] > 0);
    }
    CHECK(same_bits(run(changed_from(key, 4, 7), changed_from(value, 4, 8)).output.value(), y.value()));
    const ConstArray<double> other = run(changed_from(key, 3, 7), changed_from(value, 3, 8)).output.value();
    CHECK(same_bits(other.sliced(0, 1, 2), y.value().sliced(0, 1, 2)));
    CHECK_FALSE(same_bits(other.sliced(0, 0, 1), y.value().sliced(0, 0, 1)));
    // as if the padding had never been there
    const ConstArray<double> cut =
        attention
            .forward(Tensor<double>(query.sliced(0, 1, 2)), Tensor<double>(key.sliced(0, 1, 2).sliced(1, 0, 3)),
                     Tensor<double>(value.sliced(0, 1, 2).sliced(1, 0, 3)))
            .output.value();
    check_close(cut, y.value().sliced(0, 1, 2), 1e-13);
}

TEST_CASE("attention: a query that may see no key is an error", "[nn]") {
    Generator random{1, 0};
    const Attention attention(random, 4, 4, 1, 0, 2);
    MaskArray mask({2, 1, 3, 5}, 1);
    std::fill_n(mask.data() + 20, 5, std::uint8_t{0});  // row 1, query 1
    const Tensor<double> q(normal({2, 3, 4}, 1)), k(normal({2, 5, 4}, 2));
    CHECK_THROWS_AS(attention.forward(q, k, k, mask), Error);
    mask.data()[24] = 1;
    CHECK_NOTHROW(attention.forward(q, k, k, mask));
}

TEST_CASE("attention: what does not fit is refused with its shapes", "[nn]") {
    Generator random{1, 0};
    const auto zeros = [](const Shape& shape) { return Tensor<double>(Array<double>(shape, 0.0)); };
    CHECK_THROWS_WITH(Attention(random, 4, 6, 5, 0, 4), ContainsSubstring("width 6 and 4 heads"));
    CHECK_THROWS_WITH(Attention(random, 4, 6, 5, 0, 0), ContainsSubstring("0 heads"));
    CHECK_THROWS_WITH(Attention(random, {.width = 6, .context_length = 5, .num_heads = 4, .dropout = 0.0}),
                      ContainsSubstring("width 6 and 4 heads"));
    const Attention attention(random, 4, 6, 5, 0, 2),
        packed(random, {.width = 4, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    CHECK_THROWS_WITH(attention.forward(zeros({2, 6, 4})),
                      ContainsSubstring("at most 5") && ContainsSubstring("(2, 6, 4)"));
    CHECK_THROWS_WITH(attention.forward(zeros({5, 4})), ContainsSubstring("(5, 4)"));
    CHECK_THROWS_WITH(attention.forward(zeros({2, 5, 3})), ContainsSubstring("(2, 5, 3)"));
    CHECK_THROWS_WITH(packed.forward(zeros({2, 3, 4}), zeros({2, 3, 4}), zeros({2, 3, 4})),
                      ContainsSubstring("needs separate projections"));
    CHECK_THROWS_WITH(attention.forward(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({2, 6, 4})),
                      ContainsSubstring("(2, 3, 4), (2, 5, 4) and (2, 6, 4)"));
    CHECK_THROWS_WITH(attention.forward(zeros({2, 3, 4}), zeros({1, 5, 4}), zeros({1, 5, 4})),
                      ContainsSubstring("(2, 3, 4), (1, 5, 4)"));
    CHECK_THROWS_WITH(attention.forward(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({2, 5, 4}), MaskArray({4, 5}, 1)),
                      ContainsSubstring("(4, 5)"));
}
