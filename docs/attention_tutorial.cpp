// The program of docs/attention.md: each function is a code block of that page, and what it prints is the block below
// it. tests/docs/test_tutorial.cpp shows that page and program agree.
#include "docs/show.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/self_attention.h"
#include "nn/init.h"
#include "nn/positions.h"

using namespace inkling;

namespace {

void show_shape(const char* name, const Tensor<double>& t) { fmt::print("{} {}\n", name, to_string(t.shape())); }

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

void learned_projections() {
    Generator random{1, 0};                                      // the same random weights in every run
    const nn::SelfAttention<double> attention(random, 3, 2);     // W_query, W_key, W_value: (2, 3) each
    const auto [output, weights] = attention.forward(tokens());  // (6, 3) -> (6, 2), (6, 6)
    show_shape("output", output);
    show_shape("weights", weights);
}

void causal() {
    Generator random{2, 0};
    const nn::CausalAttention<double> attention(random, 3, 2, 6, 0.0);  // at most 6 tokens, no dropout
    const auto [output, weights] = attention.forward(tokens());         // (6, 3) -> (6, 2), (6, 6)
    show("weights", weights);
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
    show("weights", slice(weights, 0, 1, 2));            // (1, 2, 2, 4): the second text; head, query, key
    show_shape("output", output);                        // (2, 2, 4)
}

void sinusoidal() {
    const Tensor<double> table(nn::sinusoidal_positions<double>(3, 4));
    show("sinusoidal", table);
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

}  // namespace

int main() {
    similarity();
    learned_projections();
    causal();
    heads_side_by_side();
    cross_attention();
    sinusoidal();
    rotary_positions();
}
