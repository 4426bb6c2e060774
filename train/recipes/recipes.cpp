#include "train/recipes/recipes.h"

#include <algorithm>

#include "engine/base/names.h"

namespace inkling::train {
namespace {

TrainOptions fast() {
    TrainOptions o;
    o.byte_fallback = data::ByteFallback::automatic;
    o.arch = "nanochat";
    o.softcap = 0;  // no other program's model class has a soft cap, and the loss is the same (docs/recipes.md)
    o.optimizer = OptimizerKind::muon;
    o.muon_scale = MuonScale::rows;
    o.ns_coefficients = NewtonSchulz::polar_express;
    o.ns_steps = 4;
    o.muon_split_heads = true;
    o.momentum = 0.9;
    o.learning_rate = 0.03;
    o.embedding_lr = 0.01;
    o.head_lr = 0.004;
    o.min_lr = 0;
    o.schedule = ScheduleKind::linear;
    o.warmup_iters = 0;
    o.weight_decay = 0.1;
    o.cautious_weight_decay = true;
    o.sampler = data::SamplerKind::shuffle;
    o.block_size = 128;
    o.batch_size = 16;
    o.max_time = 60;
    return o;
}

// For the built-in corpus, where a model must copy a few words from the beginning of a story to its end: byte pairs
// make each word one token, and wide heads, high rates for tables, and windows that begin with a story learn the
// copying fastest.
TrainOptions stories() {
    TrainOptions o = fast();
    o.tokenizer = "bpe";
    o.vocab_size = 1024;
    o.n_layer = 2, o.n_head = 2, o.n_embd = 128, o.block_size = 128;
    o.sampler = data::SamplerKind::paragraphs;
    o.embedding_lr = 0.03, o.head_lr = 0.01;
    o.val_fraction = 0.025;
    return o;
}

// nanoGPT's config/train_shakespeare_char.py over its defaults. nanogpt-cpu is the smaller one of its README for a CPU,
// the defaults of TrainOptions.
TrainOptions nanogpt_baby() {
    TrainOptions o;
    o.n_layer = 6, o.n_head = 6, o.n_embd = 384, o.block_size = 256;
    o.batch_size = 64;
    o.dropout = 0.2;
    o.max_iters = 5000;
    return o;
}

// For an existing model.
TrainOptions finetune() {
    TrainOptions o = fast();
    o.sampler = data::SamplerKind::shuffle;
    o.eval_on_start = true;
    // its rates were chosen with these
    o.learning_rate = 0.02;
    o.muon_scale = MuonScale::original;
    o.ns_coefficients = NewtonSchulz::original, o.ns_steps = 5;
    o.cautious_weight_decay = false;
    return o;
}

}  // namespace

const std::vector<Recipe>& recipes() {
    static const std::vector<Recipe> all = {
        {"fast", fast(), Fits::shape},   {"stories", stories(), Fits::run}, {"finetune", finetune(), Fits::model},
        {"nanogpt-cpu", TrainOptions()}, {"nanogpt-baby", nanogpt_baby()},
    };
    return all;
}

std::vector<std::string> recipe_names() {
    std::vector<std::string> names;
    for (const Recipe& r : recipes()) names.push_back(r.name);
    return names;
}

const Recipe& recipe(const std::string& name) {
    const auto found =
        std::find_if(recipes().begin(), recipes().end(), [&](const Recipe& r) { return r.name == name; });
    if (found == recipes().end()) about_settings([&] { refuse_name("--recipe", name, recipe_names()); });
    return *found;
}

const Recipe& default_recipe(bool built_in_corpus, bool model_exists) {
    return recipe(model_exists ? "finetune" : built_in_corpus ? "stories" : "fast");
}

}  // namespace inkling::train
