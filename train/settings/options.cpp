#include "train/settings/options.h"

#include <cmath>
#include <cstdint>
#include <sstream>

#include "data/tokenizers/bpe/bpe_train.h"
#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/ascii.h"
#include "models/families/family.h"
#include "train/settings/settings.h"

namespace inkling::train {
namespace {

constexpr std::size_t kMaxShards = 4096;

}  // namespace

models::Architecture TrainOptions::model_config(std::size_t tokens) const {
    models::Architecture a = models::family(arch).defaults(bias);
    a.vocab_size = tokens;
    a.n_layer = n_layer, a.n_head = n_head, a.n_embd = n_embd, a.block_size = block_size;
    a.n_kv_head = n_kv_head == n_head ? 0 : n_kv_head;
    a.n_inner = n_inner == 4 * n_embd ? 0 : n_inner;
    a.head_dim = head_dim * n_head == n_embd ? 0 : head_dim;
    if (rope_theta > 0) a.rope_theta = rope_theta;
    if (softcap >= 0) a.softcap = softcap;
    a.dropout = dropout;
    return a;
}

models::AdapterOptions TrainOptions::adapter_options() const {
    return {.rank = lora_rank, .alpha = lora_alpha, .dropout = lora_dropout, .rank_stabilized = rs_lora};
}

std::vector<std::size_t> TrainOptions::steps_to_save() const {
    std::vector<std::size_t> steps;
    std::istringstream all(save_at);
    for (std::string text; std::getline(all, text, ',');) {
        const auto step = formats::parse_number<std::size_t>(text);
        check(step && *step > 0, "--save-at must be steps such as 1,2,4,8, got '{}'", shown_name(save_at));
        steps.push_back(*step);
    }
    return steps;
}

void TrainOptions::validate() const {
    const auto for_family = [&](const char* flag, bool given) {
        check(!given || !init_from.empty() || models::family(arch).has_flag(flag),
              "--{} is not for --arch {}: leave it out", flag, arch);
    };
    for_family("n-inner", n_inner > 0);
    for_family("head-dim", head_dim > 0);
    for_family("rope-theta", rope_theta > 0);
    for_family("softcap", softcap > 0);
    models::Architecture shape = model_config(1);
    if (!init_from.empty()) shape.head_dim = 8, shape.n_kv_head = 0;  // the loaded model has its own
    shape.validate();
    for (const Setting& s : settings())
        if (const auto* const field = std::get_if<Field<std::uint64_t>>(&s.field))  // the limit of TOML
            check(this->**field <= INT64_MAX, "--{} must be at most {}, got {}", s.name, INT64_MAX, this->**field);
    const auto at_least_one = [](const char* flag, std::size_t value) {
        check(value >= 1, "{} must be at least 1, got {}", flag, value);
    };
    for (const auto& [flag, batches] :
         {std::pair{"--gradient-accumulation-steps", gradient_accumulation_steps}, {"--eval-iters", eval_iters}}) {
        const double tokens =
            static_cast<double>(batch_size) * static_cast<double>(block_size) * static_cast<double>(batches);
        check(tokens <= 0x1p53, "--batch-size times --block-size times {} must be at most {:.0f} tokens, got {:.3g}",
              flag, 0x1p53, tokens);
    }
    at_least_one("--batch-size", batch_size);
    at_least_one("--gradient-accumulation-steps", gradient_accumulation_steps);
    at_least_one("--log-every", log_every);
    steps_to_save();
    check(shards >= 1 && shards <= kMaxShards && (shards & (shards - 1)) == 0,
          "--shards must be a power of two from 1 to {}, got {}", kMaxShards, shards);
    check(batch_size % shards == 0, "--batch-size must be a multiple of --shards, got {} and {}", batch_size, shards);
    const std::size_t least = tokenizer == "ids" ? 1 : data::smallest_bpe_vocab;
    check(vocab_size >= least && vocab_size <= 10'000'000, "--vocab-size must be between {} and 10000000, got {}",
          least, vocab_size);
    check(byte_fallback != data::ByteFallback::always || tokenizer == "char" || !init_from.empty(),
          "--byte-fallback always is for --tokenizer char, got {}", tokenizer);
    const auto in_range = [](const char* flag, double value, double low, double high) {
        check(std::isfinite(value) && value >= low && value <= high, "{} must be between {} and {}, got {}", flag, low,
              high, value);
    };
    in_range("--learning-rate", learning_rate, 0, 1e6);
    in_range("--min-lr", min_lr, 0, 1e6);
    for (const auto& [flag, rate] :
         {std::pair{"--embedding-lr", embedding_lr}, {"--head-lr", head_lr}, {"--vector-lr", vector_lr}}) {
        in_range(flag, rate, 0, 1e6);
        check(rate == 0 || optimizer != OptimizerKind::sgd, "{} is for --optimizer adamw and muon, got sgd", flag);
        check(rate == 0 || learning_rate > 0, "{} needs a --learning-rate above 0, whose schedule it follows", flag);
    }
    check(lora_rank == 0 || !init_from.empty(), "--lora-rank needs a model to start from: give --init-from MODEL");
    check(lora_rank <= 65536, "--lora-rank must be at most 65536, got {}", lora_rank);
    in_range("--teacher-weight", teacher_weight, 0, 1);
    in_range("--lora-alpha", lora_alpha, -1e6, 1e6);
    in_range("--lora-dropout", lora_dropout, 0, 0.999999999);
    in_range("--rope-theta", rope_theta, 0, 1e30);
    in_range("--softcap", softcap, -1, 1e30);
    in_range("--decay-fraction", decay_fraction, 0, 1);
    in_range("--momentum", momentum, 0, 0.999999999);
    check(ns_steps >= 1 && ns_steps <= 100, "--ns-steps must be between 1 and 100, got {}", ns_steps);
    in_range("--ema", ema, 0, 0.999999999);
    in_range("--skip-spikes", skip_spikes, 0, 1e6);
    in_range("--weight-decay", weight_decay, 0, 1e6);
    in_range("--beta1", beta1, 0, 0.999999999);
    in_range("--beta2", beta2, 0, 0.999999999);
    in_range("--grad-clip", grad_clip, 0, 1e30);
    in_range("--max-time", max_time, 0, 1e9);
    in_range("--max-flops", max_flops, 0, 1e30);
    in_range("--val-fraction", val_fraction, 0, 0.9);
    check(!out.empty(), "--out must name a directory");
}

}  // namespace inkling::train
