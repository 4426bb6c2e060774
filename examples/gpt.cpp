// A GPT that learns the bytes of a text, in one file: model, training and text generation. gpt.py is the same.
//   gpt TEXT.txt [STEPS]
// The model is GPT-2's, at a size that a laptop trains in a minute or two.
#include <inkling/engine/ops.h>
#include <inkling/engine/process/threads.h>
#include <inkling/nn/attention/multi_head.h>
#include <inkling/nn/embedding.h>
#include <inkling/nn/flat.h>
#include <inkling/nn/init.h>
#include <inkling/nn/linear.h>
#include <inkling/nn/norm.h>
#include <inkling/nn/positions.h>
#include <inkling/train/optimizers/adamw.h>
#include <inkling/train/step/schedule.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <set>

using namespace inkling;
using Floats = Tensor<float>;

struct Config {
    std::size_t vocabulary;
    std::size_t context = 64;  // T, the number of characters that the model sees
    std::size_t layers = 4, heads = 4;
    std::size_t width = 128;  // C
};

// Each position takes a weighted mean of itself and earlier positions, once for each head.
struct SelfAttention : nn::Module<float> {
    std::size_t heads;
    nn::Linear<float> c_attn, c_proj;  // c_attn: queries, keys and values; c_proj: the output projection

    SelfAttention(Generator& random, const Config& config)
        : heads(config.heads),
          c_attn(random, config.width, 3 * config.width),
          c_proj(random, config.width, config.width) {}

    Floats forward(const Floats& x) const {  // (B, T, C) -> (B, T, C)
        std::vector<Floats> qkv = split(c_attn.forward(x), 3, -1);
        for (Floats& part : qkv) part = nn::split_heads(part, heads);  // (B, H, T, C / H)
        return c_proj.forward(nn::merge_heads(attention(qkv[0], qkv[1], qkv[2], {.causal = true})));
    }
    void visit(const nn::Visitor<float>& v) override { v("c_attn", c_attn), v("c_proj", c_proj); }
};

struct MLP : nn::Module<float> {
    nn::Linear<float> c_fc, c_proj;

    MLP(Generator& random, const Config& config)
        : c_fc(random, config.width, 4 * config.width), c_proj(random, 4 * config.width, config.width) {}

    Floats forward(const Floats& x) const { return c_proj.forward(gelu(c_fc.forward(x))); }
    void visit(const nn::Visitor<float>& v) override { v("c_fc", c_fc), v("c_proj", c_proj); }
};

struct Block : nn::Module<float> {
    nn::LayerNorm<float> ln_1;
    SelfAttention attn;
    nn::LayerNorm<float> ln_2;
    MLP mlp;

    Block(Generator& random, const Config& config)
        : ln_1(config.width), attn(random, config), ln_2(config.width), mlp(random, config) {}

    Floats forward(Floats x) const {
        x += attn.forward(ln_1.forward(x));
        x += mlp.forward(ln_2.forward(x));
        return x;
    }
    void visit(const nn::Visitor<float>& v) override {
        v("ln_1", ln_1), v("attn", attn), v("ln_2", ln_2), v("mlp", mlp);
    }
};

struct GPT : nn::Module<float> {
    std::size_t context;
    nn::Embedding<float> wte;  // also the output head
    nn::LearnedPositions<float> wpe;
    std::vector<Block> h;
    nn::LayerNorm<float> ln_f;

    GPT(Generator& random, const Config& config)
        : context(config.context),
          wte(random, config.vocabulary, config.width),
          wpe(random, config.context, config.width),
          ln_f(config.width) {
        for (std::size_t i = 0; i < config.layers; ++i) h.emplace_back(random, config);
        // The more layers add to the residual stream, the smaller their initial weights.
        const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(config.layers));
        nn::initialize(*this, random,
                       {{"*bias", nn::Initial::constant(0)},
                        {"*ln_*", nn::Initial::constant(1)},
                        {"*c_proj.weight", nn::Initial::normal(residual)},
                        {"*", nn::Initial::normal(0.02)}});
    }

    Floats forward(const IdArray& ids) const {  // (B, T) -> (B, T, vocabulary)
        Floats x = wpe.forward(wte.forward(ids));
        for (const Block& block : h) x = block.forward(x);
        return linear(ln_f.forward(x), wte.weight);
    }
    void visit(const nn::Visitor<float>& v) override {
        v("wte", wte), v("wpe", wpe);
        for (std::size_t i = 0; i < h.size(); ++i) v("h." + std::to_string(i), h[i]);
        v("ln_f", ln_f);
    }
};

struct Training {
    std::size_t steps = 2000, batch = 12;
    double lr = 1e-3;  // the peak; training ends at a tenth of it
    double beta2 = 0.99, weight_decay = 0.1, clip = 1;
    std::size_t eval_batches = 20;

    std::size_t warmup() const { return std::min<std::size_t>(100, steps / 10); }
    std::size_t eval_every() const { return std::max<std::size_t>(1, steps / 8); }
};

using Ids = std::vector<std::int32_t>;

struct Batch {
    IdArray ids, targets;  // (B, T): parts of the text, and the character after each of their characters
};

Batch get_batch(const Ids& text, std::size_t size, std::size_t context, Generator& random) {
    Batch batch{IdArray({size, context}), IdArray({size, context})};
    const auto from = Tensor<double>::rand({size, 1}, random.next()).value();
    for (std::size_t i = 0; i < size * context; ++i) {
        const auto begin =
            static_cast<std::size_t>(from.data()[i / context] * static_cast<double>(text.size() - context));
        batch.ids.data()[i] = text[begin + i % context];
        batch.targets.data()[i] = text[begin + i % context + 1];
    }
    return batch;
}

Floats loss_of(const GPT& model, const Batch& batch) { return cross_entropy(model.forward(batch.ids), batch.targets); }

// The mean loss of some batches, the same batches each time.
double evaluate(const GPT& model, const Ids& text, const Training& training) {
    const NoGrad no_graph;
    Generator random{7};
    double total = 0;
    for (std::size_t i = 0; i < training.eval_batches; ++i)
        total += loss_of(model, get_batch(text, training.batch, model.context, random)).item();
    return total / static_cast<double>(training.eval_batches);
}

// Trains on nine tenths of the text; the loss on the rest shows how well the model generalizes.
void train_model(GPT& model, const Ids& text, const Training& training, Generator& random) {
    const auto middle = text.begin() + static_cast<std::ptrdiff_t>(text.size() * 9 / 10);
    const Ids learned(text.begin(), middle), held_out(middle, text.end());
    nn::FlatParameters<float> flat(model);  // all parameters in one array, and all gradients in another
    train::AdamW<float> adamw(flat, {.beta2 = training.beta2, .weight_decay = training.weight_decay});  // of matrices
    const train::Schedule schedule{train::ScheduleKind::cosine, training.lr, training.lr / 10, training.warmup(),
                                   training.steps};
    for (std::size_t step = 0; step < training.steps; ++step) {
        const Floats loss = loss_of(model, get_batch(learned, training.batch, model.context, random));
        loss.backward();
        adamw.step(schedule.at(step), train::clip_scale(train::gradient_norm(flat.gradients()), training.clip));
        flat.zero_gradients();
        if ((step + 1) % training.eval_every() == 0)
            std::cout << "step " << step + 1 << "  loss " << loss.item() << "  validation "
                      << evaluate(model, held_out, training) << std::endl;
    }
}

// Appends `count` ids, one after the other.
Ids write(const GPT& model, Ids ids, std::size_t count, Generator& random, double temperature = 0.8,
          std::size_t top_k = 20) {
    const NoGrad no_graph;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t seen = std::min(ids.size(), model.context);
        IdArray last({1, seen});
        std::copy(ids.end() - static_cast<std::ptrdiff_t>(seen), ids.end(), last.data());
        const Floats all = model.forward(last), logits = flatten(slice(all, 1, seen - 1, seen)) / temperature;
        const auto [values, likely] = topk(logits, std::min(top_k, logits.size()));
        const Floats sums = cumsum(softmax(values), 0);
        const double chance = Tensor<float>::rand({}, random.next()).item();
        const auto chosen = std::ranges::count_if(sums.value(), [chance](float sum) { return sum <= chance; });
        ids.push_back(likely(static_cast<std::size_t>(chosen)));
    }
    return ids;
}

int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : "");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const std::set<char> distinct(text.begin(), text.end());
    const std::string characters(distinct.begin(), distinct.end());
    const Config config{.vocabulary = characters.size()};
    if (text.size() < 10 * (config.context + 2)) {
        std::cerr << "gpt: a text of at least " << 10 * (config.context + 2)
                  << " bytes is required: gpt TEXT.txt [STEPS]\n";
        return 1;
    }
    Ids ids;
    for (const char c : text) ids.push_back(static_cast<std::int32_t>(characters.find(c)));

    set_threads(default_threads());
    Generator random{1337};
    GPT model(random, config);
    std::cout << std::fixed << std::setprecision(5) << model.parameter_count() << " parameters, " << ids.size()
              << " characters, " << characters.size() << " different ones" << std::endl;
    train_model(model, ids, {.steps = argc > 2 ? std::stoul(argv[2]) : 2000}, random);
    for (const std::int32_t id : write(model, {ids[0]}, 300, random))
        std::cout << characters[static_cast<std::size_t>(id)];
    std::cout << "\n";
}
