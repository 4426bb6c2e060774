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

// Requires that f() throws an Error whose message contains all of the texts.
template <class F>
void check_refused(const F& f, const std::vector<std::string>& texts) {
    const std::string message = error_of<Error>(f);
    for (const auto& text : texts) CHECK_THAT(message, contains(text));
}

}  // namespace

TEST_CASE("misuse: single heads", "[nn]") {
    Generator random{1, 0};
    const nn::SelfAttention<float> self(random, 4, 3);
    check_refused([&] { self.forward(zeros({2, 5, 3})); }, {"SelfAttention: x (..., L, 4)", "(2, 5, 3)"});
    check_refused([&] { self.forward(zeros({4})); }, {"SelfAttention: ", "(4,)"});
    check_refused(
        [&] {
            self.forward(zeros({2, 5, 4}), MaskArray({5, 6}, 1));
        },
        {"SelfAttention: the mask must broadcast", "(2, 5, 5)", "(5, 6)"});
    check_refused(
        [&] {
            self.forward(zeros({5, 4}), MaskArray({2, 5, 5}, 1));
        },
        {"SelfAttention: the mask must broadcast", "(5, 5)", "(2, 5, 5)"});
    check_refused([] { nn::simple_self_attention(zeros({4})); }, {"simple_self_attention: x (..., L, d)", "(4,)"});

    const nn::CausalAttention<float> causal(random, 4, 3, 6, 0.0);
    check_refused(
        [&] {
            causal.forward(zeros({2, 7, 4}));
        },
        {"CausalAttention: x (..., L, 4) with L of at most 6", "(2, 7, 4)"});
    check_refused([&] { causal.forward(zeros({2, 5, 3})); }, {"CausalAttention: ", "(2, 5, 3)"});
    check_refused([&] { nn::CausalAttention<float>(random, 4, 3, 6, 1.0); }, {"Dropout: ", "below 1", "got 1"});

    const nn::MultiHeadAttentionWrapper<float> wrapper(random, 4, 3, 6, 0.0, 2);
    check_refused([&] { wrapper.forward(zeros({5, 4})); }, {"MultiHeadAttentionWrapper: x (B, L, d_in)", "(5, 4)"});
    check_refused([&] { wrapper.forward(zeros({1, 7, 4})); }, {"at most 6", "(1, 7, 4)"});
    check_refused([&] { nn::MultiHeadAttentionWrapper<float>(random, 4, 3, 6, 0.0, 0); },
                  {"at least one head", "got 0"});
}

TEST_CASE("misuse: multi-head attention", "[nn]") {
    Generator random{1, 0};
    using Attention = nn::MultiHeadAttention<float>;
    check_refused([&] { Attention(random, 4, 10, 6, 0.0, 3); },
                  {"MultiHeadAttention: ", "divisible", "width 10 and 3 heads"});
    check_refused([&] { Attention(random, 4, 10, 6, 1.5, 2); }, {"MultiHeadAttention: ", "dropout", "1.5"});
    check_refused([&] { Attention(random, {.width = 8, .context_length = 6, .num_heads = 2, .dropout = -0.5}); },
                  {"MultiHeadAttention: ", "dropout", "-0.5"});
    check_refused([&] { Attention(random, 4, 6, 5, 0, 0); }, {"0 heads"});
    check_refused([&] { Attention(random, {.width = 6, .context_length = 5, .num_heads = 4, .dropout = 0.0}); },
                  {"width 6 and 4 heads"});
    const Attention attention(random, 4, 6, 5, 0.0, 2),
        packed(random, {.width = 4, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    const auto q = zeros({2, 3, 4}), k = zeros({2, 5, 4});
    check_refused([&] { packed.forward(q, k, k); },
                  {"MultiHeadAttention: ", "separate projections", "(2, 3, 4), (2, 5, 4) and (2, 5, 4)"});
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        check_refused(
            [&] {
                attention.forward(zeros({2, 6, 4}), wanted);
            },
            {"MultiHeadAttention: ", "at most 5", "(2, 6, 4)"});
        check_refused([&] { attention.forward(zeros({2, 5, 3}), wanted); }, {"(2, 5, 3)"});
        check_refused(
            [&] {
                attention.forward(q, k, zeros({2, 4, 4}), {}, wanted);
            },
            {"MultiHeadAttention: ", "(2, 3, 4), (2, 5, 4) and (2, 4, 4)"});
        check_refused(
            [&] {
                attention.forward(zeros({3, 4}), k, k, {}, wanted);
            },
            {"MultiHeadAttention: ", "(3, 4), (2, 5, 4)"});
        for (const Shape& shape : {Shape{5, 3}, Shape{2, 1, 3, 4}, Shape{3, 1, 1, 5}, Shape{1, 2, 2, 3, 5}}) {
            check_refused([&] { attention.forward(q, k, k, MaskArray(shape, 1), wanted); },
                          {"attention: the mask must broadcast to the scores (2, 2, 3, 5)", to_string(shape)});
        }
    }
}

TEST_CASE("misuse: scaled_dot_product_attention, composed and fused", "[nn]") {
    const auto q = zeros({2, 3, 4, 8}), k = zeros({2, 3, 5, 8});
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        const auto attend = [&](const Shape& a, const Shape& b, const Shape& c, const AttentionOptions& options) {
            return [=] { nn::scaled_dot_product_attention(zeros(a), zeros(b), zeros(c), options, wanted); };
        };
        const std::string name = "scaled_dot_product_attention: q (B, H, Lq, d)";
        // ranks, batches, heads, widths, numbers of values
        check_refused(attend({3, 4, 8}, {3, 5, 8}, {3, 5, 8}, {}), {name, "(3, 4, 8), (3, 5, 8) and (3, 5, 8)"});
        check_refused(attend({1, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 8}, {}), {name, "(1, 3, 4, 8), (2, 3, 5, 8)"});
        check_refused(attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 1, 5, 8}, {}), {name, "(2, 3, 5, 8) and (2, 1, 5, 8)"});
        for (const std::size_t heads : {2, 6, 0}) {
            check_refused(attend({2, 3, 4, 8}, {2, heads, 5, 8}, {2, heads, 5, 8}, {}),
                          {"attention: heads of queries that share those of keys and values evenly",
                           "got 3 for " + std::to_string(heads)});
        }
        check_refused(attend({2, 3, 4, 8}, {2, 3, 5, 7}, {2, 3, 5, 8}, {}), {name, "(2, 3, 5, 7) and (2, 3, 5, 8)"});
        check_refused(attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 6, 8}, {}), {name, "(2, 3, 5, 8) and (2, 3, 6, 8)"});
        AttentionOptions slopes, causal, dropout;
        slopes.alibi = nn::alibi_slopes(4);
        causal.causal = true;
        dropout.dropout = 1;
        check_refused(attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 8}, slopes),
                      {"attention: one ALiBi slope a head", "got 4", "(2, 3, 4, 8)"});
        check_refused(attend({2, 3, 6, 8}, {2, 3, 5, 8}, {2, 3, 5, 8}, causal), {"6 queries for 5 keys"});
        slopes.alibi = nn::alibi_slopes(3);
        check_refused(attend({2, 3, 6, 8}, {2, 3, 5, 8}, {2, 3, 5, 8}, slopes), {"6 queries for 5 keys"});
        check_refused(attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 8}, dropout), {"below 1", "got 1"});
    }
    check_refused(
        [&] {
            attention(q, k, zeros({2, 3, 6, 8}), {});
        },
        {"attention: q (B, H, Lq, d)", "(2, 3, 4, 8), (2, 3, 5, 8) and (2, 3, 6, 8)"});
    check_refused(
        [&] {
            attention(q, zeros({2, 2, 5, 8}), zeros({2, 2, 5, 8}), {});
        },
        {"attention: heads of queries that share", "got 3 for 2", "(2, 3, 4, 8), (2, 2, 5, 8) and (2, 2, 5, 8)"});
    check_refused([] { nn::alibi_slopes(0); }, {"alibi_slopes: ", "at least one head"});
    check_refused([] { nn::alibi_bias<float>({1.0}, 4, 3); }, {"alibi_bias: ", "4 queries for 3 keys"});
}

TEST_CASE("misuse: scoring functions and lengths", "[nn]") {
    Generator random{1, 0};
    const auto pair = [](const nn::Score<float>& score, const Shape& q, const Shape& k) {
        return [&score, q, k] { score.forward(zeros(q), zeros(k)); };
    };
    const nn::DotScore<float> dot;
    const nn::ScaledDotScore<float> scaled;
    const nn::BilinearScore<float> bilinear(random, 3, 4);
    const nn::ConcatScore<float> concat(random, 3, 4);
    const nn::AdditiveScore<float> additive(random, 3, 4, 6);
    check_refused(pair(dot, {2, 5, 3}, {2, 6, 4}), {"DotScore: ", "(2, 5, 3) and (2, 6, 4)"});
    check_refused(pair(scaled, {2, 5, 3}, {2, 6, 4}), {"ScaledDotScore: ", "(2, 5, 3) and (2, 6, 4)"});
    check_refused(pair(dot, {5, 3}, {6, 3}), {"DotScore: ", "(5, 3) and (6, 3)"});
    check_refused(pair(bilinear, {2, 5, 4}, {2, 6, 3}),
                  {"BilinearScore: queries (B, Lq, 3) and keys (B, Lk, 4)", "(2, 5, 4) and (2, 6, 3)"});
    check_refused(pair(bilinear, {1, 5, 3}, {2, 6, 4}), {"BilinearScore: ", "(1, 5, 3) and (2, 6, 4)"});
    check_refused(pair(concat, {2, 5, 3}, {2, 6, 5}), {"ConcatScore: ", "(2, 5, 3) and (2, 6, 5)"});
    check_refused(pair(concat, {2, 5, 7}, {2, 6, 4}), {"ConcatScore: ", "(2, 5, 7)"});
    check_refused(pair(additive, {2, 5, 3}, {2, 6, 5}), {"AdditiveScore: ", "(2, 5, 3) and (2, 6, 5)"});

    const nn::AdditiveAttention<float> attention(random, 4, 3, 6, 0.0);
    check_refused(
        [&] {
            attention.forward(zeros({2, 5, 3}), zeros({2, 6, 4}), zeros({2, 7, 4}));
        },
        {"Attention: ", "(2, 6, 4) and (2, 7, 4)"});
    check_refused([] { nn::Attention<float>(nullptr, 0.0); }, {"Attention: a scoring function is required"});

    const auto with_lengths = [](const Shape& shape, std::int32_t length) {
        return [=] { nn::masked_softmax(zeros({2, 3, 5}), nn::ValidLengths(shape, length)); };
    };
    check_refused(with_lengths({2}, 6), {"sequence_mask: valid lengths from 0 to the 5 keys", "got 6", "(2, 3, 5)"});
    check_refused(with_lengths({2, 3}, -1), {"sequence_mask: ", "got -1", "(2, 3, 5)"});
    for (const Shape& shape : {Shape{3}, Shape{2, 1}, Shape{2, 3, 1}, Shape{}})
        check_refused(with_lengths(shape, 1), {"sequence_mask: valid lengths (B) or (B, Lq)", to_string(shape)});
    check_refused(
        [] {
            nn::masked_softmax(zeros({3, 5}), nn::ValidLengths({3}, 1));
        },
        {"sequence_mask: x (B, Lq, Lk)", "(3, 5)"});
    check_refused([] { nn::padding_mask({2, 6}, 5); }, {"padding_mask: ", "the 5 keys", "got 6 for sequence 1"});
    check_refused([] { nn::look_ahead_mask(4, 3); }, {"4 queries for 3 keys"});
}

TEST_CASE("misuse: rotary", "[nn]") {
    check_refused([] { rotary(zeros({2, 3})); }, {"rotary: ", "even d", "(2, 3)"});
    check_refused([] { rotary(zeros({4})); }, {"rotary: x (..., L, d)", "(4,)"});
    check_refused([] { rotary(zeros({2, 4}), {0.0}); }, {"rotary: a base above 0", "got 0"});
    const ConstArray<float> table = rotary_table<float>({1, 0.1}, 0, 3);
    check_refused([&] { rotate(zeros({2, 3}), table); }, {"rotary: ", "r of at most d", "(2, 3) and (3, 2, 2)"});
    check_refused([&] { rotate(zeros({4, 4}), table); }, {"rotary: a table for 4 positions", "(3, 2, 2)"});
    for (const std::int32_t position : {-1, 3}) {
        check_refused(
            [&] {
                rotate(zeros({1, 2, 4}), table, IdArray({1, 2}, position));
            },
            {"rotary: ", position < 0 ? "positions of at least 0" : "a table for 4 positions"});
    }
}
