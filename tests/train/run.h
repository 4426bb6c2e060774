// A small training run for the tests: text, tokenizer, model and loop that belong together.
//   Run run(small_options());
//   run.step();
#pragma once

#include "data/tokenizers/char_tokenizer.h"
#include "models/files/folder.h"
#include "train/callbacks.h"
#include "train/loop.h"
#include "train/run/resume.h"

namespace inkling::testing {

// 1 layer, 2 heads, 16 wide, context 8, 4 windows a step, 20 steps.
inline train::TrainOptions small_options() {
    train::TrainOptions o;
    o.n_layer = 1, o.n_head = 2, o.n_embd = 16, o.block_size = 8, o.batch_size = 4, o.max_iters = 20, o.bias = true;
    o.learning_rate = 3e-3, o.min_lr = 3e-4, o.warmup_iters = 3, o.lr_decay_iters = 20;
    o.eval_every = 0, o.save_every = 0, o.sample_every = 0, o.log_every = 1;
    return o;
}

// Letters with some regularity, determined by the seed.
inline std::string letters(std::size_t n, std::uint64_t seed = 1) {
    std::string text = "abcdefghij ";
    while (text.size() < n) {
        const char next = static_cast<char>('a' + (text.back() - 'a' + 1 + 32) % 10);
        text += random_below({seed, 5}, text.size(), 4) == 0 ? ' ' : next;
    }
    return text.substr(0, n);
}

struct Run {
    train::TrainOptions options;
    data::CharTokenizer tokenizer;
    std::vector<std::int32_t> tokens;
    std::unique_ptr<models::Transformer<float>> model;
    train::TrainingLoop loop;

    explicit Run(train::TrainOptions o, const std::string& text = letters(600),
                 std::unique_ptr<models::Transformer<float>> from = nullptr)
        : options(std::move(o)),
          tokenizer(data::CharTokenizer::from_text(text)),
          tokens(tokenizer.encode(text)),
          model(from ? std::move(from) : fresh()),
          loop(options, *model, tokens, &tokenizer) {}

    double step() { return loop.run_step(); }
    const train::TrainingState& state() const { return loop.state(); }
    const train::Metrics& metrics() const { return loop.metrics(); }
    double last_val_loss() const { return state().val_loss; }  // of a run that is at its end
    nn::FlatParameters<float>& parameters() { return loop.step().parameters; }
    Array<float> weights() { return parameters().values().clone(); }
    std::string resume(const std::filesystem::path& checkpoint, bool force = false) {
        return train::resume(loop, checkpoint, force);
    }

    // Runs to the end, and writes a run's files into `folder`, if any.
    void to_end(train::RunFolder* folder = nullptr) {
        std::optional<train::CheckpointSaver> checkpoints;
        std::optional<train::MetricsFile> metrics_file;
        std::vector<train::Callback*> callbacks;
        if (folder) {
            callbacks.push_back(&metrics_file.emplace(folder->path() / "metrics.jsonl", state().step));
            callbacks.push_back(&checkpoints.emplace(*folder, tokenizer, loop, &*metrics_file));
        }
        loop.run(callbacks);
    }

  private:
    std::unique_ptr<models::Transformer<float>> fresh() const {
        return std::make_unique<models::Transformer<float>>(options.model_config(tokenizer.vocab_size()),
                                                            Generator{options.seed, 0});
    }
};

}  // namespace inkling::testing
