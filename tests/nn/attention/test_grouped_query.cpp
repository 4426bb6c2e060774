// Grouped-query attention: against its parts, what its options change, and what it refuses.
#include "nn/attention/grouped_query.h"

#include "engine/base/precision.h"
#include "engine/ops.h"
#include "nn/attention/multi_head.h"
#include "nn/init.h"
#include "tests/nn/attention/compare.h"

using namespace inkling;
using namespace inkling::testing;
using nn::GroupedQueryAttention;
using nn::NeedWeights;

namespace {

template <class T>
GroupedQueryAttention<T> made(const nn::GroupedQueryShape& shape) {
    Generator random{4, 0};
    return GroupedQueryAttention<T>(random, shape);
}

}  // namespace

TEST_CASE("grouped query attention: is softmax of turned and normed heads, each kv head for its group", "[nn]") {
    const auto attention = made<double>(
        {.width = 16, .context_length = 6, .heads = 4, .kv_heads = 2, .bias = true, .rope_theta = 100, .eps = 1e-3});
    const Tensor<double> x(random_array<double>({2, 6, 16}, 1));
    const auto [y, weights] = attention.forward(x);
    const std::size_t d = 4;
    const auto head = [&](const nn::Linear<double>& projection, std::size_t h) {  // (2, 6, d)
        return slice(projection.forward(x), 2, h * d, (h + 1) * d);
    };
    const auto prepared = [](const Tensor<double>& in) {
        return rms_norm(rotary(in, {100, RotaryPairs::halves, true, 0}), {}, 1e-3);
    };
    MaskArray future({6, 6}, 0);
    for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t j = i + 1; j < 6; ++j) future.data()[i * 6 + j] = 1;
    std::vector<Tensor<double>> heads;
    for (std::size_t h = 0; h < 4; ++h) {
        const Tensor<double> q = prepared(head(attention.q_proj, h)), k = prepared(head(attention.k_proj, h / 2));
        const Tensor<double> scores = mul(matmul(q, transpose(k, 1, 2)), Tensor<double>(Array<double>({1}, 0.5)));
        const Tensor<double> p = softmax(masked_fill(scores, future, -kInfinity), -1);
        check_close(slice(weights, 1, h, h + 1).value().reshaped({2, 6, 6}), p.value(), 1e-12, "weights");
        heads.push_back(matmul(p, head(attention.v_proj, h / 2)));
    }
    check_close(y.value(), attention.o_proj.forward(concatenate<double>(heads, -1)).value(), 1e-12);
    check_close(attention.forward(x, NeedWeights::no).output.value(), y.value(), 1e-12, "fused");
}

TEST_CASE("grouped query attention: float and bfloat16 are close to double", "[nn]") {
    const nn::GroupedQueryShape shape{.width = 32, .context_length = 33, .heads = 4, .kv_heads = 2};
    auto wide = made<double>(shape);
    auto narrow = made<float>(shape);
    for (auto [name, p] : narrow.parameters()) {
        for (auto [other, q] : wide.parameters())
            if (name == other) p.value_in_place() = cast<float>(q.value());
    }
    const Array<float> x = random_array<float>({2, 33, 32}, 1);
    const ConstArray<double> want = wide.forward(Tensor<double>(cast<double>(x)), NeedWeights::no).output.value();
    check_close(narrow.forward(Tensor<float>(x), NeedWeights::no).output.value(), want, 1e-5);
    const WithPrecision scope(Precision::bf16);
    check_close(narrow.forward(Tensor<float>(x), NeedWeights::no).output.value(), want, 0.05);
}

TEST_CASE("grouped query attention: dropout acts in training alone", "[nn]") {
    auto attention = made<float>({.width = 16, .context_length = 6, .heads = 4, .kv_heads = 1, .dropout = 0.5});
    const Tensor<float> x(random_array<float>({1, 6, 16}, 1));
    Generator random{5, 0};
    const auto once = [&] { return attention.forward(x, NeedWeights::no, &random).output.value(); };
    CHECK_FALSE(same_bits(once(), once()));
    attention.eval();
    CHECK(same_bits(once(), once()));
    CHECK(random.next_stream == 2);
    attention.train();
    CHECK_THROWS_WITH(attention.forward(x), ContainsSubstring("GroupedQueryAttention: training with dropout"));
}

TEST_CASE("grouped query attention: what does not fit is refused", "[nn]") {
    const auto refuses = [](const nn::GroupedQueryShape& shape, const char* text) {
        CHECK_THROWS_WITH(made<float>(shape), ContainsSubstring(text));
    };
    refuses({16, 6, 4, 3}, "4 heads and 3 key and value heads");
    refuses({16, 6, 4, 0}, "GroupedQueryAttention: heads of even width");
    refuses({16, 6, 0, 0}, "GroupedQueryAttention: heads of even width");
    refuses({12, 6, 4, 2}, "got width 12");  // heads of 3
    refuses({16, 6, 4, 2, 1.0}, "dropout of at least 0 and below 1");
    const auto attention = made<float>({16, 6, 4, 2});
    CHECK_THROWS_WITH(attention.forward(Tensor<float>(Array<float>({2, 7, 16}, 0.0f))),
                      ContainsSubstring("at most 6") && ContainsSubstring("(2, 7, 16)"));
    CHECK_THROWS_WITH(attention.forward(Tensor<float>(Array<float>({7, 16}, 0.0f))), ContainsSubstring("(7, 16)"));
    CHECK_THROWS_WITH(attention.forward(Tensor<float>(Array<float>({1, 2, 8}, 0.0f))), ContainsSubstring("(1, 2, 8)"));
}
