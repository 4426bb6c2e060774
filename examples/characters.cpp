// A language model of characters, made of layers and an optimizer: it learns a rhyme.
#include <inkling/engine/ops.h>
#include <inkling/engine/process/threads.h>
#include <inkling/nn/attention/multi_head.h>
#include <inkling/nn/embedding.h>
#include <inkling/nn/flat.h>
#include <inkling/nn/mlp.h>
#include <inkling/nn/norm.h>
#include <inkling/nn/positions.h>
#include <inkling/train/optimizers/adamw.h>
#include <inkling/train/schedule.h>

#include <iostream>
#include <set>

using namespace inkling;
const std::string kText =
    "Peter Piper picked a peck of pickled peppers.\nA peck of pickled peppers Peter Piper picked.\n"
    "If Peter Piper picked a peck of pickled peppers,\nWhere's the peck of pickled peppers Peter Piper picked?\n";
const std::set<char> kDistinct(kText.begin(), kText.end());
const std::string kCharacters(kDistinct.begin(), kDistinct.end());
constexpr std::size_t kBatch = 16, kContext = 64, kWidth = 64;

struct Model : nn::Module<float> {  // one block of GPT-2
    Generator random{1337};
    nn::Embedding<float> wte{random, kCharacters.size(), kWidth};
    nn::LearnedPositions<float> wpe{random, kContext, kWidth};
    nn::LayerNorm<float> ln_1{kWidth}, ln_2{kWidth}, ln_f{kWidth};
    nn::MultiHeadAttention<float> attn{random,
                                       {.width = kWidth, .context_length = kContext, .num_heads = 4, .dropout = 0.0}};
    nn::MLP<float> mlp{random, kWidth, 4 * kWidth, 0.0};
    nn::Linear<float> head{random, kWidth, kCharacters.size()};

    Tensor<float> forward(const IdArray& ids) const {  // (B, T) -> (B, T, V)
        Tensor<float> x = wpe.forward(wte.forward(ids));
        x += attn.forward(ln_1.forward(x), nn::NeedWeights::no).output;
        x += mlp.forward(ln_2.forward(x));
        return head.forward(ln_f.forward(x));
    }
    void visit(const nn::Visitor<float>& v) override {
        v("wte", wte), v("wpe", wpe), v("ln_1", ln_1), v("attn", attn);
        v("ln_2", ln_2), v("mlp", mlp), v("ln_f", ln_f), v("head", head);
    }
};

int main() {
    const auto id_of = [](char c) { return static_cast<std::int32_t>(kCharacters.find(c)); };
    set_threads(1);  // a model as small as this one has no work for more
    Model model;
    nn::FlatParameters<float> flat(model);  // all parameters as one array, and all gradients as another
    train::AdamW<float> adamw(flat, {.weight_decay = 0});
    const train::Schedule schedule{train::ScheduleKind::linear, 0.004, 0, 0, 500};  // from 0.004 to 0 in 500 steps
    IdArray ids({kBatch, kContext}), targets({kBatch, kContext});
    for (std::size_t step = 0; step < 500; ++step) {
        const RandomKey key = model.random.next();
        for (std::size_t i = 0; i < ids.size(); ++i) {  // parts of the text, from random places on
            const std::size_t at = random_below(key, i / kContext, kText.size() - kContext) + i % kContext;
            ids.data()[i] = id_of(kText[at]), targets.data()[i] = id_of(kText[at + 1]);
        }
        const Tensor<float> loss = cross_entropy(model.forward(ids), targets);
        loss.backward();
        adamw.step(schedule.at(step), train::clip_scale(train::gradient_norm(flat.gradients()), 1.0));
        flat.zero_gradients();
        if (step % 100 == 99) std::cout << "step " << step + 1 << "  loss " << loss.item() << std::endl;
    }
    const NoGrad no_graph;
    std::string text = "Peter";
    while (text.size() < kContext) {
        IdArray seen({1, text.size()});
        for (std::size_t t = 0; t < seen.size(); ++t) seen(0, t) = id_of(text[t]);
        const ConstArray<float> logits = model.forward(seen).value();
        const float* const last = &logits(0, seen.size() - 1, 0);
        text += kCharacters[std::max_element(last, last + kCharacters.size()) - last];
    }
    std::cout << text << "\n";
}
