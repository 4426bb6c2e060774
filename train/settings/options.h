// The values of a run's settings, with their defaults. settings.h lists their names, help and groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sampler.h"
#include "data/text/corpus.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/split/pre_tokenizer.h"
#include "engine/base/check.h"
#include "engine/base/precision.h"
#include "engine/weights/packed_matrix.h"
#include "models/adapter.h"
#include "models/architecture.h"
#include "train/settings/enums.h"

namespace inkling::train {

// Changes of the number of steps (TrainingLoop::replan): state of the run, not a setting. config.toml keeps them, so
// that a run resumed from before a change repeats it.
struct RunPlan {
    struct Change {
        std::size_t step, steps_before;  // max_iters until this step
        bool operator==(const Change&) const = default;
    };
    bool adjustable = false;      // max_iters follows the clock (schedule.h)
    std::vector<Change> changes;  // by step

    bool empty() const { return !adjustable && changes.empty(); }
};

struct TrainOptions {
    std::vector<std::string> data = {}, exclude = {};
    std::string text_field = "", text_column = "";
    bool lossy = false, skip_bad_lines = false;
    data::LossOn loss_on = data::LossOn::completions;
    ChatForm chat_template = ChatForm::as_needed;
    std::string out = "out";
    std::string resume = "";  // "", "auto" or a checkpoint folder
    bool overwrite = false;
    std::string init_from = "";  // a model folder, or ""
    std::vector<std::string> teacher = {};
    double teacher_weight = 0.7;
    std::string tokenizer = "char";
    std::size_t vocab_size = 4096;
    data::SplitStyle pre_tokenizer = data::SplitStyle::gpt2;
    data::ByteFallback byte_fallback = data::ByteFallback::never;
    bool strict_vocabulary = false;

    std::string arch = "gpt2";
    std::size_t n_layer = 4, n_head = 4, n_kv_head = 0, n_embd = 128, block_size = 64;
    std::size_t n_inner = 0, head_dim = 0;
    double rope_theta = 0, softcap = -1;
    double dropout = 0.0;
    bool bias = false;

    std::size_t lora_rank = 0;  // 0 trains the model itself, not adapters
    double lora_alpha = 32, lora_dropout = 0;
    std::string lora_targets = models::kAllLinear;
    bool rs_lora = false;
    WeightType base_precision = WeightType::fp32;
    std::string init_adapter = "";  // an adapter's folder or run, or ""

    std::size_t batch_size = 12, gradient_accumulation_steps = 1, shards = 1, max_iters = 2000;
    double max_time = 0, max_flops = 0;
    OptimizerKind optimizer = OptimizerKind::adamw;
    double learning_rate = 1e-3, min_lr = 1e-4;
    double embedding_lr = 0, head_lr = 0, vector_lr = 0;
    ScheduleKind schedule = ScheduleKind::cosine;
    std::size_t warmup_iters = 100, lr_decay_iters = 0;
    double decay_fraction = 0.2;
    bool cautious_weight_decay = false;
    double weight_decay = 0.1, beta1 = 0.9, beta2 = 0.99, grad_clip = 1.0;
    double momentum = 0.95;
    bool nesterov = true;
    std::size_t ns_steps = 5;
    NewtonSchulz ns_coefficients = NewtonSchulz::original;
    bool muon_split_heads = false;
    MuonScale muon_scale = MuonScale::adamw;
    double ema = 0;
    double skip_spikes = 0;

    Precision precision = Precision::fp32;
    bool checkpoint_activations = false;
    data::SamplerKind sampler = data::SamplerKind::random;
    double val_fraction = 0.1;
    std::uint64_t seed = 1337;
    std::size_t threads = 0;
    bool eval_on_start = false;
    std::size_t eval_every = 250, eval_iters = 0, patience = 0, save_every = 0, sample_every = 500, log_every = 10;
    std::string save_at = "";          // "1,2,4"
    std::size_t keep_checkpoints = 2;  // 0: all
    std::vector<std::string> sample_prompt = {};

    // Settings of one start of the program
    std::string recipe = "", config = "", serve = "", api_key_file = "";
    std::vector<std::string> allow_host = {};
    bool insecure = false, dry_run = false, json = false, quiet = false, broadcast_data = false;
    bool force = false;         // resumes with another text or other settings, too
    std::size_t processes = 1;  // that train together

    RunPlan plan = {};

    models::Architecture model_config(std::size_t tokens) const;  // for a vocabulary of this size
    models::AdapterOptions adapter_options() const;               // rank 0 for none
    data::CorpusOptions corpus_options() const { return {exclude, text_field, text_column, lossy, skip_bad_lines}; }
    std::size_t rows_per_shard() const { return batch_size / shards; }
    std::vector<std::size_t> steps_to_save() const;  // those of save_at; throws Error
    std::size_t tokens_per_step() const { return batch_size * block_size * gradient_accumulation_steps; }
    // Throws Error, naming the flag, for invalid values. With --init-from the heads need not divide the width, because
    // the shape is that model's.
    void validate() const;
};

// Invalid settings, one alone or several together. The program reports wrong usage.
struct WrongSetting : Error {
    using Error::Error;
};

// Returns body(); turns an Error, except BadInput, into a WrongSetting.
template <class Body>
auto about_settings(const Body& body) {
    try {
        return body();
    } catch (const BadInput&) {
        throw;
    } catch (const WrongSetting&) {
        throw;
    } catch (const Error& e) {
        throw WrongSetting(e.what());
    }
}

}  // namespace inkling::train
