// Misuse is an error that names the op, its requirement and every shape.
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"
#include "nn/attention/self_attention.h"

static Tensor<float> zeros(const Shape& shape) { return Tensor<float>(Array<float>(shape, 0.0f)); }

TEST_CASE("misuse: shapes that do not fit are refused, naming the op and every shape", "[nn]") {
    using X = std::vector<Tensor<float>>;
    struct Row {
        std::string op;
        std::function<void(const X&)> call;
        std::vector<std::vector<Shape>> shapes;
    };
    Generator random{1, 0};
    const SelfAttention<float> self(random, 4, 3);
    const CausalAttention<float> causal(random, 4, 3, 6, 0.0);  // of at most 6 tokens
    const MultiHeadAttentionWrapper<float> wrapper(random, 4, 3, 6, 0.0, 2);
    const MultiHeadAttention<float> heads(random, 4, 6, 5, 0.0, 2),
        packed(random, {.width = 4, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    const DotScore<float> dot;
    const ScaledDotScore<float> scaled;
    const BilinearScore<float> bilinear(random, 3, 4);
    const ConcatScore<float> concat(random, 3, 4);
    const AdditiveScore<float> additive(random, 3, 4, 6);
    const auto by = [](const Score<float>& score) { return [&score](const X& x) { score.forward(x[0], x[1]); }; };
    const ConstArray<float> angles = rotary_table<float>({1, 0.1}, 0, 3);
    std::vector<Row> rows = {
        {"SelfAttention", [&](const X& x) { self.forward(x[0]); }, {{{2, 5, 3}}, {{4}}}},
        {"simple_self_attention", [](const X& x) { simple_self_attention(x[0]); }, {{{4}}}},
        {"CausalAttention", [&](const X& x) { causal.forward(x[0]); }, {{{2, 7, 4}}, {{2, 5, 3}}}},
        {"MultiHeadAttentionWrapper", [&](const X& x) { wrapper.forward(x[0]); }, {{{5, 4}}}},
        {"CausalAttention", [&](const X& x) { wrapper.forward(x[0]); }, {{{1, 7, 4}}}},
        {"MultiHeadAttention",  // separate projections are needed
         [&](const X& x) { packed.forward(x[0], x[1], x[2]); },
         {{{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}}},
        {"attention",
         [](const X& x) { attention(x[0], x[1], x[2], {}); },
         {{{2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 6, 8}}, {{2, 3, 4, 8}, {2, 2, 5, 8}, {2, 2, 5, 8}}}},
        {"DotScore", by(dot), {{{2, 5, 3}, {2, 6, 4}}, {{5, 3}, {6, 3}}}},
        {"ScaledDotScore", by(scaled), {{{2, 5, 3}, {2, 6, 4}}}},
        {"BilinearScore", by(bilinear), {{{2, 5, 4}, {2, 6, 3}}, {{1, 5, 3}, {2, 6, 4}}}},
        {"ConcatScore", by(concat), {{{2, 5, 3}, {2, 6, 5}}}},
        {"ConcatScore",
         [&](const X& x) {
             concat.forward(x[0], zeros({2, 6, 4}));
         },
         {{{2, 5, 7}}}},
        {"AdditiveScore", by(additive), {{{2, 5, 3}, {2, 6, 5}}}},
        {"sequence_mask", [](const X& x) { masked_softmax(x[0], ValidLengths({3}, 1)); }, {{{3, 5}}}},
        {"rotary", [](const X& x) { rotary(x[0]); }, {{{2, 3}}, {{4}}}},
        {"rotary", [&](const X& x) { rotate(x[0], angles); }, {{{2, 3}}}}};
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        const auto product = [=](const X& x) { scaled_dot_product_attention(x[0], x[1], x[2], {}, wanted); };
        const Shape q{2, 3, 4, 8}, k{2, 3, 5, 8};
        rows.push_back({"scaled_dot_product_attention",  // ranks, batches, heads, widths, numbers of values
                        product,
                        {{{3, 4, 8}, {3, 5, 8}, {3, 5, 8}},
                         {{1, 3, 4, 8}, k, k},
                         {q, k, {2, 1, 5, 8}},
                         {q, {2, 3, 5, 7}, k},
                         {q, k, {2, 3, 6, 8}}}});
        for (const std::size_t few : {2, 6, 0})
            rows.push_back({"attention", product, {{q, {2, few, 5, 8}, {2, few, 5, 8}}}});
        const auto alone = [&, wanted](const X& x) { heads.forward(x[0], wanted); };
        rows.push_back({"MultiHeadAttention", alone, {{{2, 6, 4}}}}), rows.push_back({"linear", alone, {{{2, 5, 3}}}});
        rows.push_back({"MultiHeadAttention",
                        [&, wanted](const X& x) { heads.forward(x[0], x[1], x[2], MaskArray(), wanted); },
                        {{{2, 3, 4}, {2, 5, 4}, {2, 4, 4}}, {{3, 4}, {2, 5, 4}, {2, 5, 4}}}});
    }
    for (const Row& row : rows)
        for (const std::vector<Shape>& shapes : row.shapes) {
            X x;
            std::vector<std::string> texts{row.op + ": "};
            for (const Shape& shape : shapes) x.push_back(zeros(shape)), texts.push_back(to_string(shape));
            INFO(row.op);
            CHECK_THROWS_WITH(row.call(x), ContainsAll(texts));
        }
}

TEST_CASE("misuse: masks and valid lengths that do not fit are refused", "[nn]") {
    Generator random{1, 0};
    const SelfAttention<float> self(random, 4, 3);
    const std::string broadcast = "SelfAttention: the mask must broadcast";
    CHECK_THROWS_WITH(self.forward(zeros({2, 5, 4}), MaskArray({5, 6}, 1)), contains(broadcast, "(2, 5, 5)", "(5, 6)"));
    CHECK_THROWS_WITH(self.forward(zeros({5, 4}), MaskArray({2, 5, 5}, 1)), contains(broadcast, "(5, 5)", "(2, 5, 5)"));
    const MultiHeadAttention<float> heads(random, 4, 6, 5, 0.0, 2);
    const auto q = zeros({2, 3, 4}), k = zeros({2, 5, 4}), x = zeros({2, 3, 5});
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no})
        for (const Shape& shape : {Shape{5, 3}, Shape{2, 1, 3, 4}, Shape{3, 1, 1, 5}, Shape{1, 2, 2, 3, 5}})
            CHECK_THROWS_WITH(
                heads.forward(q, k, k, MaskArray(shape, 1), wanted),
                contains("attention: the mask must broadcast to the scores (2, 2, 3, 5)", to_string(shape)));
    CHECK_THROWS_WITH(masked_softmax(x, ValidLengths({2}, 6)),
                      contains("sequence_mask: expected valid lengths from 0 to the 5 keys", "got 6", "(2, 3, 5)"));
    CHECK_THROWS_WITH(masked_softmax(x, ValidLengths({2, 3}, -1)), contains("sequence_mask: ", "got -1", "(2, 3, 5)"));
    for (const Shape& shape : {Shape{3}, Shape{2, 1}, Shape{2, 3, 1}, Shape{}})
        CHECK_THROWS_WITH(masked_softmax(x, ValidLengths(shape, 1)),
                          contains("sequence_mask: expected valid lengths (B) or (B, Lq)", to_string(shape)));
    CHECK_THROWS_WITH(padding_mask({2, 6}, 5), contains("padding_mask: ", "the 5 keys", "got 6 for sequence 1"));
    CHECK_THROWS_WITH(look_ahead_mask(4, 3), contains("4 queries for 3 keys"));
    CHECK_THROWS_WITH(alibi_bias<float>({1.0}, 4, 3), contains("alibi_bias: ", "4 queries for 3 keys"));
    const AdditiveAttention<float> additive(random, 4, 3, 6, 0.0);
    CHECK_THROWS_WITH(additive.forward(zeros({2, 5, 3}), zeros({2, 6, 4}), zeros({2, 7, 4})),
                      contains("Attention: ", "(2, 6, 4) and (2, 7, 4)"));
}

TEST_CASE("misuse: sizes, probabilities and options that cannot be are refused", "[nn]") {
    Generator random{1, 0};
    using Attention = MultiHeadAttention<float>;
    const std::string name = "MultiHeadAttention: ";
    CHECK_THROWS_WITH(Attention(random, 4, 10, 6, 0, 3), contains(name, "divisible", "width 10 and 3 heads"));
    CHECK_THROWS_WITH(Attention(random, 4, 10, 6, 1.5, 2), contains(name, "dropout", "1.5"));
    CHECK_THROWS_WITH(Attention(random, 4, 6, 6, 0, 0), contains("0 heads"));
    CHECK_THROWS_WITH(Attention(random, Attention::Packed{8, 6, 2, -0.5}), contains(name, "dropout", "-0.5"));
    CHECK_THROWS_WITH(Attention(random, Attention::Packed{6, 5, 4, 0.0}), contains("width 6 and 4 heads"));
    CHECK_THROWS_WITH(CausalAttention<float>(random, 4, 3, 6, 1.0), contains("Dropout: ", "below 1", "got 1"));
    CHECK_THROWS_WITH(MultiHeadAttentionWrapper<float>(random, 4, 3, 6, 0.0, 0),
                      contains("at least one head", "got 0"));
    CHECK_THROWS_WITH(alibi_slopes(0), contains("alibi_slopes: ", "at least one head"));
    CHECK_THROWS_WITH(nn::Attention<float>(nullptr, 0.0), contains("Attention: a scoring function is required"));
    const auto q = zeros({2, 3, 4, 8}), k = zeros({2, 3, 5, 8}), more = zeros({2, 3, 6, 8});
    for (const NeedWeights wanted : {NeedWeights::yes, NeedWeights::no}) {
        const auto product = [&](const Tensor<float>& queries, const AttentionOptions& options) {
            scaled_dot_product_attention(queries, k, k, options, wanted);
        };
        CHECK_THROWS_WITH(product(q, {.alibi = alibi_slopes(4)}),
                          contains("attention: expected one ALiBi slope a head", "got 4", "(2, 3, 4, 8)"));
        CHECK_THROWS_WITH(product(more, {.causal = true}), contains("6 queries for 5 keys"));
        CHECK_THROWS_WITH(product(more, {.alibi = alibi_slopes(3)}), contains("6 queries for 5 keys"));
        CHECK_THROWS_WITH(product(q, {.dropout = 1}), contains("below 1", "got 1"));
    }
    CHECK_THROWS_WITH(rotary(zeros({2, 4}), {0.0}), contains("rotary: expected a base above 0", "got 0"));
    const ConstArray<float> table = rotary_table<float>({1, 0.1}, 0, 3);
    CHECK_THROWS_WITH(rotate(zeros({4, 4}), table), contains("rotary: expected a table for 4 positions", "(3, 2, 2)"));
    for (const std::int32_t position : {-1, 3})
        CHECK_THROWS_WITH(rotate(zeros({1, 2, 4}), table, IdArray({1, 2}, position)),
                          contains("rotary: ", position < 0 ? "positions of at least 0" : "a table for 4 positions"));
}
