// The program of docs/attention.md: each function is a code block of that page, and what it prints is the block below
// it. tests/docs/test_tutorial.cpp shows that page and program agree.
#include "docs/show.h"
#include "engine/autograd/backward.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"
#include "nn/attention/self_attention.h"
#include "nn/init.h"
#include "nn/positions.h"

using namespace inkling;

namespace {

void show_shape(const char* name, const Tensor<double>& t) { fmt::print("{} {}\n", name, to_string(t.shape())); }

double largest_difference(const Tensor<double>& a, const Tensor<double>& b) {
    const ConstArray<double> d = sub(a, b).value();
    double most = 0;
    for (std::size_t i = 0; i < d.size(); ++i) most = std::max(most, std::abs(d.data()[i]));
    return most;
}

double variance(const Tensor<double>& x) {
    const Tensor<double> centred = x - mean(x);
    return mean(mul(centred, centred)).item();
}

// Six tokens of a sentence, each a vector of width 3.
Tensor<double> tokens() {
    return Tensor<double>(xt::xarray<double>{{0.43, 0.15, 0.89},    // a
                                             {0.55, 0.87, 0.66},    // small
                                             {0.57, 0.85, 0.64},    // drop
                                             {0.22, 0.58, 0.33},    // of
                                             {0.77, 0.25, 0.10},    // ink
                                             {0.05, 0.80, 0.55}});  // falls
}

void similarity() {
    const Tensor<double> x = tokens();                                // (6, 3)
    const Tensor<double> query = slice(x, 0, 1, 2);                   // (1, 3), the second token
    const Tensor<double> scores = matmul(query, transpose(x, 0, 1));  // (1, 3) (3, 6) -> (1, 6)
    const Tensor<double> weights = softmax(scores);                   // (1, 6), above 0, sum 1
    const Tensor<double> output = matmul(weights, x);                 // (1, 6) (6, 3) -> (1, 3)
    show("scores", scores);
    show("weights", weights);
    show("output", output);
}

void all_tokens_at_once() {
    const auto [output, weights] = nn::simple_self_attention(tokens());  // (6, 3) -> (6, 3), (6, 6)
    show("weights", weights);
}

void learned_projections() {
    Generator random{1, 0};                                      // the same random weights in every run
    const nn::SelfAttention<double> attention(random, 3, 2);     // W_query, W_key, W_value: (2, 3) each
    const auto [output, weights] = attention.forward(tokens());  // (6, 3) -> (6, 2), (6, 6)
    show("W_query", attention.W_query.weight);
    show("weights", weights);
}

void why_scale() {
    for (const std::size_t d : {4, 64, 1024}) {
        const Tensor<double> q(normal({1, 100, d}, 1)), k(normal({1, 100, d}, 2));
        const Tensor<double> plain = nn::DotScore<double>().forward(q, k);         // (1, 100, 100)
        const Tensor<double> scaled = nn::ScaledDotScore<double>().forward(q, k);  // the same / sqrt(d)
        const auto largest = [](const Tensor<double>& s) { return mean(max(softmax(s), {-1})).item(); };
        fmt::print("d {:4}: variance {:7.2f}, scaled {:.2f}; largest weight of a row {:.2f}, scaled {:.2f}\n", d,
                   variance(plain), variance(scaled), largest(plain), largest(scaled));
    }
}

void causal() {
    Generator random{2, 0};
    const nn::CausalAttention<double> fill(random, 3, 2, 6, 0.0);  // at most 6 tokens, no dropout
    nn::CausalAttention<double> renormalize(random, 3, 2, 6, 0.0, false, nn::CausalMask::renormalize);
    renormalize.W_query.weight = fill.W_query.weight;  // one parameter for both
    renormalize.W_key.weight = fill.W_key.weight;
    const auto [output, weights] = fill.forward(tokens());  // (6, 3) -> (6, 2), (6, 6)
    show("weights", weights);
    const bool equal = largest_difference(renormalize.forward(tokens()).weights, weights) < 1e-14;
    fmt::print("both ways give the same weights: {}\n", equal);
}

void dropped_weights() {
    Generator random{3, 0};
    nn::CausalAttention<double> attention(random, 3, 2, 6, 0.5);
    const Tensor<double> x = tokens();
    show("training, once", slice(attention.forward(x, &random).output, 0, 4, 6));  // the last two tokens
    show("training, again", slice(attention.forward(x, &random).output, 0, 4, 6));
    attention.eval();
    show("evaluation", slice(attention.forward(x).output, 0, 4, 6));
}

void heads_in_turn() {
    Generator random{4, 0};
    const nn::MultiHeadAttentionWrapper<double> two(random, 3, 2, 6, 0.0, 2);  // two causal heads of width 2
    const Tensor<double> x = reshape(tokens(), {1, 6, 3});                     // a batch of one text
    const auto [output, weights] = two.forward(x);                             // (1, 6, 3) -> (1, 6, 4), (1, 2, 6, 6)
    show_shape("output", output);
    show_shape("weights", weights);
}

void heads_side_by_side() {
    Generator random{5, 0};
    const nn::MultiHeadAttention<double> attention(random, 3, 4, 6, 0.0, 2);  // width 4: two heads of width 2
    const Tensor<double> x = reshape(tokens(), {1, 6, 3});                    // (1, 6, 3)
    const Tensor<double> q = attention.W_query->forward(x);                   // (1, 6, 4)
    show_shape("q, all heads", q);
    show_shape("q, by heads", nn::split_heads(q, 2));  // (1, 6, 4) -> (1, 6, 2, 2) -> (1, 2, 6, 2)
    show("weights of the first head", slice(attention.forward(x).weights, 1, 0, 1));
}

void cross_attention() {
    Generator random{6, 0};
    const nn::MultiHeadAttention<double> attention(random, 3, 4, 6, 0.0, 2);
    const Tensor<double> query(normal({2, 2, 3}, 1));    // (2, 2, 3): two texts, two queries each
    const Tensor<double> memory(normal({2, 4, 3}, 2));   // (2, 4, 3): four keys and values each
    const MaskArray mask = nn::padding_mask({4, 3}, 4);  // (2, 1, 1, 4): the second text has three keys
    const auto [output, weights] = attention.forward(query, memory, memory, mask);
    show("padding mask", mask);
    show("look-ahead mask", nn::look_ahead_mask(3, 4));  // (1, 1, 3, 4)
    show("weights", weights);                            // (2, 2, 2, 4): text, head, query, key
    show_shape("output", output);                        // (2, 2, 4)
}

void fused() {
    const Tensor<double> q(normal({2, 4, 512, 16}, 1), true);  // (B, H, L, d)
    const Tensor<double> k(normal({2, 4, 512, 16}, 2), true), v(normal({2, 4, 512, 16}, 3), true);
    AttentionOptions options;
    options.causal = true;
    const auto attend = [&](nn::NeedWeights wanted) {
        const std::size_t before = pool_statistics().bytes_in_use;
        const Tensor<double> y = nn::scaled_dot_product_attention(q, k, v, options, wanted).output;
        const double held = static_cast<double>(pool_statistics().bytes_in_use - before);
        fmt::print("{}: {:.1f} MB held after forward\n", wanted == nn::NeedWeights::yes ? "composed" : "fused",
                   held / 1e6);
        return y;
    };
    const Tensor<double> composed = attend(nn::NeedWeights::yes);
    const Tensor<double> at_once = attend(nn::NeedWeights::no);
    fmt::print("they agree to 1e-13: {}\n", largest_difference(composed, at_once) < 1e-13);
}

void scoring_functions() {
    Generator random{7, 0};
    const Tensor<double> Q(normal({1, 1, 2}, 1)), K(normal({1, 4, 2}, 2));  // (B, Lq, dq), (B, Lk, dk)
    const Tensor<double> V(normal({1, 4, 3}, 3));                           // (B, Lk, dv)
    const auto run = [&](const char* name, std::unique_ptr<nn::Score<double>> score) {
        const nn::Attention<double> attention(std::move(score), 0.0);
        show(name, attention.forward(Q, K, V).weights);  // (1, 1, 4)
    };
    run("dot", std::make_unique<nn::DotScore<double>>());
    run("scaled dot", std::make_unique<nn::ScaledDotScore<double>>());
    run("bilinear", std::make_unique<nn::BilinearScore<double>>(random, 2, 2));
    run("concat", std::make_unique<nn::ConcatScore<double>>(random, 2, 2));
    run("additive", std::make_unique<nn::AdditiveScore<double>>(random, 2, 2, 8));
}

void additive_with_lengths() {
    Generator random{8, 0};
    const nn::AdditiveAttention<double> attention(random, 2, 20, 8, 0.0);  // widths of keys, queries, hidden layer
    const Tensor<double> queries(normal({2, 1, 20}, 1));
    const Tensor<double> keys(Array<double>({2, 10, 2}, 1.0));  // all keys the same
    Array<double> numbers({2, 10, 4});                          // values 0 .. 39, twice
    for (std::size_t i = 0; i < 80; ++i) numbers.data()[i] = static_cast<double>(i % 40);
    const nn::ValidLengths valid_lens = xt::xarray<std::int32_t>{2, 6};  // (B)
    const auto [output, weights] = attention.forward(queries, keys, Tensor<double>(numbers), valid_lens);
    show("weights", weights);  // (2, 1, 10)
    show("output", output);    // (2, 1, 4)
}

void order_is_not_seen() {
    Generator random{9, 0};
    const nn::SelfAttention<double> attention(random, 4, 4);
    const nn::LearnedPositions<double> learned(random, 3, 4);  // weight (3, 4), small and random at first
    const Tensor<double> sinusoidal(nn::sinusoidal_positions<double>(3, 4));
    const auto backwards = [](const Tensor<double>& t) {
        return concatenate({slice(t, 0, 2, 3), slice(t, 0, 1, 2), slice(t, 0, 0, 1)}, 0);
    };
    const auto sees_order = [&](const auto& place) {  // does a text read backwards give other vectors?
        const Tensor<double> x(normal({3, 4}, 1));
        const Tensor<double> a = attention.forward(place(backwards(x))).output;
        return largest_difference(a, backwards(attention.forward(place(x)).output)) > 1e-6;
    };
    show("sinusoidal", sinusoidal);
    fmt::print("no positions: {}\n", sees_order([](const Tensor<double>& x) { return x; }));
    fmt::print("sinusoidal: {}\n", sees_order([&](const Tensor<double>& x) { return x + sinusoidal; }));
    fmt::print("learned: {}\n", sees_order([&](const Tensor<double>& x) { return learned.forward(x); }));
}

void rotary_positions() {
    const Tensor<double> q(normal({1, 8}, 1)), k(normal({1, 8}, 2));
    const auto score = [&](std::size_t i, std::size_t j) {  // of q at position i and k at position j
        RotaryOptions at_i, at_j;
        at_i.start = i, at_j.start = j;
        return sum(mul(rotary(q, at_i), rotary(k, at_j))).item();
    };
    fmt::print("5 and 2: {:.4f}   105 and 102: {:.4f}   5 and 3: {:.4f}\n", score(5, 2), score(105, 102), score(5, 3));
}

void alibi() {
    const std::vector<double> slopes = nn::alibi_slopes(4);  // one a head
    fmt::print("slopes {} {} {} {}\n", slopes[0], slopes[1], slopes[2], slopes[3]);
    const Array<double> bias = nn::alibi_bias<double>(slopes, 4, 4);  // (1, 4, 4, 4)
    show("bias of the first head", tril(slice(Tensor<double>(bias), 1, 0, 1)));
}

void gradients() {
    Generator random{10, 0};
    nn::SelfAttention<double> attention(random, 3, 2);
    const auto [output, weights] = attention.forward(tokens());
    backward(sum(mul(output, output)));
    for (const auto& [name, parameter] : attention.parameters()) show(name.c_str(), parameter.grad());
}

}  // namespace

int main() {
    similarity();
    all_tokens_at_once();
    learned_projections();
    why_scale();
    causal();
    dropped_weights();
    heads_in_turn();
    heads_side_by_side();
    cross_attention();
    fused();
    scoring_functions();
    additive_with_lengths();
    order_is_not_seen();
    rotary_positions();
    alibi();
    gradients();
}
