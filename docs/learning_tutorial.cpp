// The program of docs/learning.md: the code blocks of that page stand here in its order, and what it prints is the
// page's output. tests/docs/test_tutorial.cpp shows that page and program agree.
#include <set>
#include <string>
#include <xtensor/xmath.hpp>

#include "docs/show.h"
#include "engine/autograd/backward.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "nn/attention/multi_head.h"
#include "nn/embedding.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/positions.h"
#include "train/optimizers/adamw.h"

using namespace inkling;

namespace {

void chain_rule() {
    const auto a = Tensor<double>::from(2, true), b = Tensor<double>::from(-3, true),
               c = Tensor<double>::from(10, true);
    const Tensor<double> L = pow(a * b + c, 2);
    L.backward();
    fmt::print("L {}  dL/da {}  dL/db {}  dL/dc {}\n", L.item(), a.grad()(), b.grad()(), c.grad()());
}

void descent() {
    auto a = Tensor<double>::from(2, true);
    for (int step = 0; step < 4; ++step) {
        const Tensor<double> L = pow(a * -3 + 10, 2);
        a.zero_grad();
        L.backward();
        fmt::print("a {:.4f}  L {:7.4f}  dL/da {:8.4f}\n", a.item(), L.item(), a.grad()());
        a.value_in_place() -= 0.02 * a.grad();
    }
}

Tensor<double> cube(const Tensor<double>& x) {
    Array<double> y = x.value() * x.value() * x.value();
    return record("cube", std::move(y), inputs(x), [x = Saved(x)](const Array<double>& dy, Gradients<double>& grads) {
        grads.add(0, dy * 3 * *x * *x);
    });
}

void own_op() {
    const auto x = Tensor<double>::from({1, 2, -1}, true);
    cube(x).backward(Tensor<double>::from({1, 1, 10}).value());
    show("dx", x.grad());
}

void matrices() {
    const auto x = Tensor<double>::from({{1, 2}, {3, 4}}, true);  // (N, C): two rows
    const auto w = Tensor<double>::from({{10, 1}}, true);         // (K, C): one output
    sum(linear(x, w)).backward();                                 // x w^T is (N, K)
    show("dx", x.grad());
    show("dw", w.grad());
}

void classes() {
    const auto logits = Tensor<double>::from({{2, 1, 0}}, true);
    const Tensor<double> loss = cross_entropy(logits, IdArray({1}, 0));  // the right class is 0
    loss.backward();
    show("p", softmax(logits));
    fmt::print("loss {:.4f}\n", loss.item());
    show("p - y", logits.grad());
}

const std::string kText = "she sells sea shells by the sea shore";

struct Characters {
    std::string all;          // each character once; an id is a place in this string
    IdArray inputs, targets;  // (1, T): the text, and the text one character later

    explicit Characters(const std::string& text) : inputs({1, text.size() - 1}), targets({1, text.size() - 1}) {
        const std::set<char> distinct(text.begin(), text.end());
        all.assign(distinct.begin(), distinct.end());
        for (std::size_t t = 0; t + 1 < text.size(); ++t) inputs(0, t) = id(text[t]), targets(0, t) = id(text[t + 1]);
    }
    std::int32_t id(char c) const { return static_cast<std::int32_t>(all.find(c)); }
};

// Draws an id: u is uniform in [0, 1), p are the probabilities of a row.
std::size_t draw(const double* p, double u) {
    std::size_t i = 0;
    while ((u -= p[i]) >= 0) ++i;
    return i;
}

void bigrams() {
    const Characters text(kText);
    const std::size_t V = text.all.size();
    auto table = Tensor<double>::zeros({V, V}, true);  // row: this character; column: the next one
    for (int step = 0; step <= 1000; ++step) {
        const Tensor<double> loss = cross_entropy(embedding(text.inputs, table), text.targets);
        table.zero_grad();
        loss.backward();
        table.value_in_place() -= 10 * table.grad();
        if (step % 500 == 0) fmt::print("step {:4}  loss {:.4f}\n", step, loss.item());
    }
    const Tensor<double> p = softmax(table);  // (V, V)
    const auto next = [&](char c) { return &p.value()(text.id(c), 0); };
    fmt::print("after l: l {:.2f}, s {:.2f}\n", next('l')[text.id('l')], next('l')[text.id('s')]);
    std::string written = "s";
    while (written.size() < 60) written += text.all[draw(next(written.back()), random_uniform({1, 0}, written.size()))];
    fmt::print("{}\n", written);
}

void attention_by_hand() {
    const auto x = Tensor<double>::from({{1, 0}, {0, 1}, {1, 1}});                 // (T, C): three tokens
    const Tensor<double> scores = matmul(x, transpose(x, 0, 1)) / std::sqrt(2.0);  // (T, T)
    const Tensor<double> weights = softmax(masked_fill(scores, causal_mask(3, 3), -INFINITY));
    show("scores", scores);
    show("weights", weights);
    show("output", matmul(weights, x));
}

constexpr std::size_t kWidth = 16, kContext = 36;

struct Block : nn::Module<double> {
    nn::LayerNorm<double> ln_1{kWidth}, ln_2{kWidth};
    nn::MultiHeadAttention<double> attn;
    nn::MLP<double> mlp;

    explicit Block(Generator& random)  // two heads, no dropout
        : attn(random, kWidth, kWidth, kContext, 0.0, 2), mlp(random, kWidth, 4 * kWidth, 0.0) {}
    Tensor<double> forward(Tensor<double> x) const {  // (B, T, C) -> (B, T, C)
        x += attn.forward(ln_1.forward(x)).output;    // tokens look at earlier tokens
        x += mlp.forward(ln_2.forward(x));            // each token on its own
        return x;
    }
    void visit(const nn::Visitor<double>& v) override {
        v("ln_1", ln_1), v("attn", attn), v("ln_2", ln_2), v("mlp", mlp);
    }
};

void one_block() {
    Generator random{1337};
    Block block(random);
    fmt::print("attn {}, mlp {}\n", block.attn.parameter_count(), block.mlp.parameter_count());
    const Tensor<double> gain = Tensor<double>::ones({2}), bias = Tensor<double>::zeros({2});
    show("layer_norm", layer_norm(Tensor<double>::from({{1, 3}}), gain, bias));
}

// The worst error of the gradient of an op that computes y = f(x) and whose backward is dx = backward(x, dy).
template <class F, class B>
double error_of(const F& f, const B& backward) {
    const auto op = [&](const Inputs& in) {
        return record<double>("op", f(in[0].detach()).value(), inputs(in[0]),
                              [&, x = in[0].detach()](const Array<double>& dy, Gradients<double>& grads) {
                                  grads.add(0, backward(x, Tensor<double>(dy)).value().clone());
                              });
    };
    return gradient_error(op, {normal({3, 4}, 1)});
}

using V = const Tensor<double>&;
template <class F, class Right, class Wrong>
void plant(const char* bug, const F& f, const Right& right, const Wrong& wrong) {
    fmt::print("{:34} right: {}  wrong: {:.2f}\n", bug, error_of(f, right) < 1e-8 ? "below 1e-8" : "not right",
               error_of(f, wrong));
}

void three_bugs() {
    plant(
        "tanh forgets the square", [](V x) { return tanh(x); },  // y
        [](V x, V dy) { return dy * (1 - pow(tanh(x), 2)); },    // right
        [](V x, V dy) { return dy * (1 - tanh(x)); });           // wrong
    plant(
        "x * x counts one use of two", [](V x) { return x * x; },  // y
        [](V x, V dy) { return dy * x + dy * x; },                 // right
        [](V x, V dy) { return dy * x; });                         // wrong
    plant(
        "softmax forgets its sum", [](V x) { return softmax(x); },                     // y
        [](V x, V dy) { return softmax(x) * (dy - sum(softmax(x) * dy, -1, true)); },  // right
        [](V x, V dy) { return softmax(x) * dy; });                                    // wrong
}

struct GPT : nn::Module<double> {
    Generator random{1337};
    nn::Embedding<double> wte{random, 11, kWidth};               // a vector for each character
    nn::LearnedPositions<double> wpe{random, kContext, kWidth};  // a vector for each place
    Block block{random};
    nn::LayerNorm<double> ln_f{kWidth};
    nn::Linear<double> head{random, kWidth, 11};

    Tensor<double> forward(const IdArray& ids) const {  // (B, T) -> (B, T, V)
        return head.forward(ln_f.forward(block.forward(wpe.forward(wte.forward(ids)))));
    }
    void visit(const nn::Visitor<double>& v) override {
        v("wte", wte), v("wpe", wpe), v("block", block), v("ln_f", ln_f), v("head", head);
    }
};

void a_model_that_writes() {
    const Characters text(kText);
    GPT model;
    fmt::print("{} parameters\n", model.parameter_count());
    nn::FlatParameters<double> flat(model);
    train::AdamW<double> adamw(flat, {.beta2 = 0.99, .weight_decay = 0});
    for (int step = 0; step <= 200; ++step) {
        const Tensor<double> loss = cross_entropy(model.forward(text.inputs), text.targets);
        flat.zero_gradients();
        loss.backward();
        adamw.step(0.01);
        if (step % 100 == 0) fmt::print("step {:3}  loss {:.4f}\n", step, loss.item());
    }
    std::string written = "s";
    while (written.size() < 37) {
        IdArray ids({1, written.size()});
        for (std::size_t t = 0; t < written.size(); ++t) ids(0, t) = text.id(written[t]);
        const ConstArray<double> p = softmax(model.forward(ids)).value();  // (1, T, V)
        written += text.all[draw(&p(0, written.size() - 1, 0), random_uniform({1, 0}, written.size()))];
    }
    fmt::print("{}\n", written);
}

}  // namespace

int main() {
    chain_rule();
    descent();
    own_op();
    matrices();
    classes();
    bigrams();
    attention_by_hand();
    one_block();
    three_bugs();
    a_model_that_writes();
}
