// Misuse is an error that names the op, its requirement and every shape.
#include "engine/ops.h"
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"
#include "nn/attention/self_attention.h"
#include "tests/engine/helpers.h"
#include "tests/support/error_of.h"

using namespace inkling;
using namespace inkling::testing;
using nn::NeedWeights;

namespace {

Tensor<float> zeros(const Shape& shape) { return Tensor<float>(Array<float>(shape, 0.0f)); }

// Requires that f(in...) throws an Error whose message contains all of the texts.
template <class F, class... In>
void check_refused(const std::vector<std::string>& texts, const F& f, const In&... in) {
    CHECK_THAT(error_of<Error>([&] { f(in...); }), ContainsAll(texts));
}

// The call of a layer.
template <class Layer>
auto forward_of(const Layer& layer) {
    return [&layer](const auto&... in) { layer.forward(in...); };
}

}  // namespace

TEST_CASE("misuse: single heads", "[nn]") {
    Generator random{1, 0};
    const nn::SelfAttention<float> layer(random, 4, 3);
    const auto self = forward_of(layer);
    check_refused({"SelfAttention: x (..., L, 4)", "(2, 5, 3)"}, self, zeros({2, 5, 3}));
    check_refused({"SelfAttention: ", "(4,)"}, self, zeros({4}));
    check_refused({"SelfAttention: the mask must broadcast", "(2, 5, 5)", "(5, 6)"}, self, zeros({2, 5, 4}),
                  MaskArray({5, 6}, 1));
    check_refused({"SelfAttention: the mask must broadcast", "(5, 5)", "(2, 5, 5)"}, self, zeros({5, 4}),
                  MaskArray({2, 5, 5}, 1));
    check_refused({"simple_self_attention: x (..., L, d)", "(4,)"}, nn::simple_self_attention<float>, zeros({4}));

    const nn::CausalAttention<float> causal(random, 4, 3, 6, 0.0);
    check_refused({"CausalAttention: x (..., L, 4) with L of at most 6", "(2, 7, 4)"}, forward_of(causal),
                  zeros({2, 7, 4}));
    check_refused({"CausalAttention: ", "(2, 5, 3)"}, forward_of(causal), zeros({2, 5, 3}));
    check_refused({"Dropout: ", "below 1", "got 1"}, [&] { nn::CausalAttention<float>(random, 4, 3, 6, 1.0); });

    using Wrapper = nn::MultiHeadAttentionWrapper<float>;
    const Wrapper wrapper(random, 4, 3, 6, 0.0, 2);
    check_refused({"MultiHeadAttentionWrapper: x (B, L, d_in)", "(5, 4)"}, forward_of(wrapper), zeros({5, 4}));
    check_refused({"at most 6", "(1, 7, 4)"}, forward_of(wrapper), zeros({1, 7, 4}));
    check_refused({"at least one head", "got 0"}, [&] { Wrapper(random, 4, 3, 6, 0.0, 0); });
}

TEST_CASE("misuse: multi-head attention", "[nn]") {
    Generator random{1, 0};
    using Attention = nn::MultiHeadAttention<float>;
    check_refused({"MultiHeadAttention: ", "divisible", "width 10 and 3 heads"},
                  [&] { Attention(random, 4, 10, 6, 0.0, 3); });
    check_refused({"MultiHeadAttention: ", "dropout", "1.5"}, [&] { Attention(random, 4, 10, 6, 1.5, 2); });
    check_refused({"MultiHeadAttention: ", "dropout", "-0.5"},
                  [&] { Attention(random, {.width = 8, .context_length = 6, .num_heads = 2, .dropout = -0.5}); });
    check_refused({"0 heads"}, [&] { Attention(random, 4, 6, 5, 0, 0); });
    check_refused({"width 6 and 4 heads"},
                  [&] { Attention(random, {.width = 6, .context_length = 5, .num_heads = 4, .dropout = 0.0}); });
    const Attention attention(random, 4, 6, 5, 0.0, 2),
        packed(random, {.width = 4, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    const auto q = zeros({2, 3, 4}), k = zeros({2, 5, 4});
    check_refused({"MultiHeadAttention: ", "separate projections", "(2, 3, 4), (2, 5, 4) and (2, 5, 4)"},
                  forward_of(packed), q, k, k);
    const auto forward = forward_of(attention);
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        check_refused({"MultiHeadAttention: ", "at most 5", "(2, 6, 4)"}, forward, zeros({2, 6, 4}), wanted);
        check_refused({"(2, 5, 3)"}, forward, zeros({2, 5, 3}), wanted);
        const MaskArray none;
        check_refused({"MultiHeadAttention: ", "(2, 3, 4), (2, 5, 4) and (2, 4, 4)"}, forward, q, k, zeros({2, 4, 4}),
                      none, wanted);
        check_refused({"MultiHeadAttention: ", "(3, 4), (2, 5, 4)"}, forward, zeros({3, 4}), k, k, none, wanted);
        for (const Shape& shape : {Shape{5, 3}, Shape{2, 1, 3, 4}, Shape{3, 1, 1, 5}, Shape{1, 2, 2, 3, 5}})
            check_refused({"attention: the mask must broadcast to the scores (2, 2, 3, 5)", to_string(shape)}, forward,
                          q, k, k, MaskArray(shape, 1), wanted);
    }
}

TEST_CASE("misuse: scaled_dot_product_attention, composed and fused", "[nn]") {
    const auto q = zeros({2, 3, 4, 8}), k = zeros({2, 3, 5, 8}), few = zeros({2, 2, 5, 8}), more = zeros({2, 3, 6, 8});
    const AttentionOptions plain, causal{.causal = true}, dropout{.dropout = 1}, slopes{.alibi = nn::alibi_slopes(3)},
        many_slopes{.alibi = nn::alibi_slopes(4)};
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        const auto attend = [&](const auto&... in) { nn::scaled_dot_product_attention(in..., wanted); };
        const std::string name = "scaled_dot_product_attention: q (B, H, Lq, d)";
        // ranks, batches, heads, widths, numbers of values
        check_refused({name, "(3, 4, 8), (3, 5, 8) and (3, 5, 8)"}, attend, zeros({3, 4, 8}), zeros({3, 5, 8}),
                      zeros({3, 5, 8}), plain);
        check_refused({name, "(1, 3, 4, 8), (2, 3, 5, 8)"}, attend, zeros({1, 3, 4, 8}), k, k, plain);
        check_refused({name, "(2, 3, 5, 8) and (2, 1, 5, 8)"}, attend, q, k, zeros({2, 1, 5, 8}), plain);
        for (const std::size_t heads : {2, 6, 0})
            check_refused({"attention: heads of queries that share those of keys and values evenly",
                           "got 3 for " + std::to_string(heads)},
                          attend, q, zeros({2, heads, 5, 8}), zeros({2, heads, 5, 8}), plain);
        check_refused({name, "(2, 3, 5, 7) and (2, 3, 5, 8)"}, attend, q, zeros({2, 3, 5, 7}), k, plain);
        check_refused({name, "(2, 3, 5, 8) and (2, 3, 6, 8)"}, attend, q, k, more, plain);
        check_refused({"attention: one ALiBi slope a head", "got 4", "(2, 3, 4, 8)"}, attend, q, k, k, many_slopes);
        check_refused({"6 queries for 5 keys"}, attend, more, k, k, causal);
        check_refused({"6 queries for 5 keys"}, attend, more, k, k, slopes);
        check_refused({"below 1", "got 1"}, attend, q, k, k, dropout);
    }
    const auto fused = [](const auto&... in) { attention(in...); };
    check_refused({"attention: q (B, H, Lq, d)", "(2, 3, 4, 8), (2, 3, 5, 8) and (2, 3, 6, 8)"}, fused, q, k, more,
                  plain);
    check_refused(
        {"attention: heads of queries that share", "got 3 for 2", "(2, 3, 4, 8), (2, 2, 5, 8) and (2, 2, 5, 8)"}, fused,
        q, few, few, plain);
    check_refused({"alibi_slopes: ", "at least one head"}, nn::alibi_slopes, 0);
    check_refused({"alibi_bias: ", "4 queries for 3 keys"}, [] { nn::alibi_bias<float>({1.0}, 4, 3); });
}

TEST_CASE("misuse: scoring functions and lengths", "[nn]") {
    Generator random{1, 0};
    const auto refused = [](const nn::Score<float>& score, const Shape& q, const Shape& k,
                            const std::vector<std::string>& texts) {
        check_refused(texts, forward_of(score), zeros(q), zeros(k));
    };
    const nn::DotScore<float> dot;
    const nn::ScaledDotScore<float> scaled;
    const nn::BilinearScore<float> bilinear(random, 3, 4);
    const nn::ConcatScore<float> concat(random, 3, 4);
    const nn::AdditiveScore<float> additive(random, 3, 4, 6);
    refused(dot, {2, 5, 3}, {2, 6, 4}, {"DotScore: ", "(2, 5, 3) and (2, 6, 4)"});
    refused(scaled, {2, 5, 3}, {2, 6, 4}, {"ScaledDotScore: ", "(2, 5, 3) and (2, 6, 4)"});
    refused(dot, {5, 3}, {6, 3}, {"DotScore: ", "(5, 3) and (6, 3)"});
    refused(bilinear, {2, 5, 4}, {2, 6, 3},
            {"BilinearScore: queries (B, Lq, 3) and keys (B, Lk, 4)", "(2, 5, 4) and (2, 6, 3)"});
    refused(bilinear, {1, 5, 3}, {2, 6, 4}, {"BilinearScore: ", "(1, 5, 3) and (2, 6, 4)"});
    refused(concat, {2, 5, 3}, {2, 6, 5}, {"ConcatScore: ", "(2, 5, 3) and (2, 6, 5)"});
    refused(concat, {2, 5, 7}, {2, 6, 4}, {"ConcatScore: ", "(2, 5, 7)"});
    refused(additive, {2, 5, 3}, {2, 6, 5}, {"AdditiveScore: ", "(2, 5, 3) and (2, 6, 5)"});

    const nn::AdditiveAttention<float> attention(random, 4, 3, 6, 0.0);
    check_refused({"Attention: ", "(2, 6, 4) and (2, 7, 4)"}, forward_of(attention), zeros({2, 5, 3}), zeros({2, 6, 4}),
                  zeros({2, 7, 4}));
    check_refused({"Attention: a scoring function is required"}, [] { nn::Attention<float>(nullptr, 0.0); });

    const auto softmax = [](const Tensor<float>& x, const nn::ValidLengths& lengths) {
        nn::masked_softmax(x, lengths);
    };
    const auto x = zeros({2, 3, 5});
    check_refused({"sequence_mask: valid lengths from 0 to the 5 keys", "got 6", "(2, 3, 5)"}, softmax, x,
                  nn::ValidLengths({2}, 6));
    check_refused({"sequence_mask: ", "got -1", "(2, 3, 5)"}, softmax, x, nn::ValidLengths({2, 3}, -1));
    for (const Shape& shape : {Shape{3}, Shape{2, 1}, Shape{2, 3, 1}, Shape{}})
        check_refused({"sequence_mask: valid lengths (B) or (B, Lq)", to_string(shape)}, softmax, x,
                      nn::ValidLengths(shape, 1));
    check_refused({"sequence_mask: x (B, Lq, Lk)", "(3, 5)"}, softmax, zeros({3, 5}), nn::ValidLengths({3}, 1));
    check_refused({"padding_mask: ", "the 5 keys", "got 6 for sequence 1"}, [] { nn::padding_mask({2, 6}, 5); });
    check_refused({"4 queries for 3 keys"}, nn::look_ahead_mask, 4, 3);
}

TEST_CASE("misuse: rotary", "[nn]") {
    check_refused({"rotary: ", "even d", "(2, 3)"}, [] { rotary(zeros({2, 3})); });
    check_refused({"rotary: x (..., L, d)", "(4,)"}, [] { rotary(zeros({4})); });
    check_refused({"rotary: a base above 0", "got 0"}, [] { rotary(zeros({2, 4}), {0.0}); });
    const ConstArray<float> table = rotary_table<float>({1, 0.1}, 0, 3);
    const auto turn = [&](const auto&... in) { rotate(in...); };
    check_refused({"rotary: ", "r of at most d", "(2, 3) and (3, 2, 2)"}, turn, zeros({2, 3}), table);
    check_refused({"rotary: a table for 4 positions", "(3, 2, 2)"}, turn, zeros({4, 4}), table);
    for (const std::int32_t position : {-1, 3})
        check_refused({"rotary: ", position < 0 ? "positions of at least 0" : "a table for 4 positions"}, turn,
                      zeros({1, 2, 4}), table, IdArray({1, 2}, position));
}
