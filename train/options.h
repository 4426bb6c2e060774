// Everything that a training run can be told, each setting listed once, in visit(): its name gives the command line
// flag (--n-layer), the key of config.toml (n_layer), the default and the help text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/sampler.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/split/split_styles.h"
#include "engine/autograd/packed_matrix.h"
#include "engine/base/precision.h"
#include "models/adapter.h"
#include "models/architecture.h"
#include "train/enums.h"

namespace inkling::train {

struct TrainOptions {
    std::vector<std::string> data = {};
    data::CorpusOptions text = {};  // how it is read
    LossOn loss_on = LossOn::completions;
    ChatForm chat_template = ChatForm::as_needed;
    std::string out = "out";
    std::string resume = "";  // "", "auto" or a checkpoint folder
    bool overwrite = false;
    std::string init_from = "";  // a model folder, or ""
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

    std::size_t lora_rank = 0;  // 0: the model itself is trained, not adapters
    double lora_alpha = 32, lora_dropout = 0;
    std::string lora_targets = models::kAllLinear;
    bool rs_lora = false;
    WeightType base_precision = WeightType::fp32;
    std::string init_adapter = "";  // an adapter's folder or run, or ""

    std::size_t batch_size = 12, gradient_accumulation_steps = 1, shards = 1, max_iters = 2000;
    double max_time = 0;
    OptimizerKind optimizer = OptimizerKind::adamw;
    double learning_rate = 1e-3, min_lr = 1e-4;
    double embedding_lr = 0, head_lr = 0, vector_lr = 0;
    ScheduleKind schedule = ScheduleKind::cosine;
    std::size_t warmup_iters = 100, lr_decay_iters = 0;
    double decay_fraction = 0.2;
    double weight_decay = 0.1, beta1 = 0.9, beta2 = 0.99, grad_clip = 1.0;
    double momentum = 0.95;
    bool nesterov = true;
    std::size_t ns_steps = 5;
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
    // What became of the plan: see loop.h.
    bool replan = false;
    std::size_t replan_step = 0, planned_iters = 0;
    std::vector<std::string> sample_prompt = {};

    // v(name, field, help) for every setting. `Options` is TrainOptions or const TrainOptions.
    template <class Options, class V>
    static void visit(Options& o, const V& v) {
        v("data", o.data, data::CorpusOptions::data_help);
        data::CorpusOptions::visit(o.text, v);
        v("loss-on", o.loss_on,
          "what is learned of conversations, and of prompts with a completion: completions (answers, and the token "
          "that "
          "ends them) or all");
        v("chat-template", o.chat_template,
          "the form of conversations that a model without one gets: chatml; or auto (where it learns conversations)");
        v("out", o.out, "directory of the run: checkpoints, config.toml, metrics.jsonl");
        v("resume", o.resume,
          "'auto': resume from the newest checkpoint in --out, if there is one; or the checkpoint to resume from");
        v("overwrite", o.overwrite, "replace the run that --out already holds");
        v("init-from", o.init_from, "model folder or GGUF file whose weights and tokenizer to start from");
        v("tokenizer", o.tokenizer,
          "'char', 'bpe' (learned from the text), a tokenizer.json, or the folder of a model or a run");
        v("vocab-size", o.vocab_size, "vocabulary size that --tokenizer bpe learns");
        v("pre-tokenizer", o.pre_tokenizer,
          "--tokenizer bpe: the pattern by which text is split into words: gpt2, llama3, qwen2 or nanochat");
        v("byte-fallback", o.byte_fallback,
          "--tokenizer char: 256 tokens for the bytes of rare and unknown characters: never, always, or auto (where "
          "that makes the vocabulary smaller; the recipe fast)");
        v("strict-vocabulary", o.strict_vocabulary,
          "refuse characters that the tokenizer does not know, instead of replacing them");
        v("arch", o.arch, "model family: gpt2, nanochat, llama, qwen2, qwen3 or gpt-neox");
        v("n-layer", o.n_layer, "transformer blocks");
        v("n-head", o.n_head, "attention heads");
        v("n-kv-head", o.n_kv_head,
          "nanochat, llama, qwen2, qwen3: heads of keys and values, shared by the attention heads; 0: --n-head");
        v("n-embd", o.n_embd, "width; a multiple of --n-head");
        v("n-inner", o.n_inner, "width of the feed-forward part; 0: 4 --n-embd");
        v("head-dim", o.head_dim, "llama, qwen2, qwen3: width of a head; 0: --n-embd / --n-head");
        v("rope-theta", o.rope_theta, "all but gpt2: base of the angles of rotary positions; 0: the family's, 10000");
        v("softcap", o.softcap,
          "nanochat: logits are capped at this; 0: not, which llama.cpp can compute; below 0: the family's, 15");
        v("block-size", o.block_size,
          "context size in tokens; with --init-from, of the sequences that it is trained on: at most the model's");
        v("dropout", o.dropout, "dropout probability");
        v("bias", o.bias, "biases in linear layers and norms, where the family leaves the choice (qwen2 does not)");
        v("lora-rank", o.lora_rank,
          "train low-rank adapters of this rank for the model of --init-from, which stays as it is; 0: train the "
          "model");
        v("lora-alpha", o.lora_alpha, "the adapters' product is multiplied by this, divided by the rank");
        v("lora-dropout", o.lora_dropout, "dropout probability of the adapters' input");
        v("lora-targets", o.lora_targets,
          "linear layers that get adapters: names such as q_proj,v_proj; all-linear: all but the head; "
          "all-linear,lm_head: all");
        v("rs-lora", o.rs_lora, "divide --lora-alpha by the square root of the rank");
        v("base-precision", o.base_precision,
          "how the model's own weights are kept while adapters are trained: fp32, bf16 or q8_0");
        v("init-adapter", o.init_adapter,
          "adapter to go on from: the folder of a run or of PEFT; without --init-from, the model is the one it names");
        v("batch-size", o.batch_size, "sequences per step");
        v("gradient-accumulation-steps", o.gradient_accumulation_steps,
          "batches per step, whose gradients are averaged");
        v("shards", o.shards,
          "equal parts of a step's batch, a power of two: their gradients are added as a tree, the same whatever "
          "number "
          "of processes has them; by default that number (mpirun), else 1");
        v("max-iters", o.max_iters, "training steps");
        v("max-time", o.max_time,
          "stop after this much time in training steps: seconds, or 90s, 5m, 1h30m; 0: no limit");
        v("optimizer", o.optimizer,
          "adamw; muon (for matrices in blocks, AdamW for embeddings, head and vectors); or sgd");
        v("learning-rate", o.learning_rate, "peak learning rate");
        v("min-lr", o.min_lr, "learning rate at the end of the decay");
        v("embedding-lr", o.embedding_lr, "adamw, muon: peak learning rate of the embeddings; 0: --learning-rate");
        v("head-lr", o.head_lr, "adamw, muon: peak learning rate of an untied head; 0: --learning-rate");
        v("vector-lr", o.vector_lr, "adamw, muon: peak learning rate of gains and biases; 0: --learning-rate");
        v("schedule", o.schedule, "after the warm-up: cosine, linear, wsd (stable, then decay) or constant");
        v("warmup-iters", o.warmup_iters, "warm-up steps, in which the learning rate rises linearly");
        v("lr-decay-iters", o.lr_decay_iters, "step at which --min-lr is reached; 0: --max-iters");
        v("decay-fraction", o.decay_fraction, "wsd: fraction of --lr-decay-iters at its end, in which the rate decays");
        v("weight-decay", o.weight_decay, "weight decay of matrices; vectors have none");
        v("beta1", o.beta1, "AdamW's decay of the mean");
        v("beta2", o.beta2, "AdamW's decay of the mean square");
        v("grad-clip", o.grad_clip, "clip the gradient to this norm over all parameters; 0: no clipping");
        v("momentum", o.momentum, "momentum of muon and sgd");
        v("nesterov", o.nesterov, "muon, sgd: Nesterov momentum");
        v("ns-steps", o.ns_steps, "muon: Newton-Schulz steps that make an update orthogonal");
        v("muon-split-heads", o.muon_split_heads,
          "muon: orthogonalize the query, key and value matrices of each head separately");
        v("muon-scale", o.muon_scale,
          "muon: adamw (updates of AdamW's size, for its learning rates); original (learning rates of about 0.02); or "
          "rows (as original, but all rows of an update have one length)");
        v("ema", o.ema, "evaluate and save a moving average of the weights with this decay, such as 0.999; 0: off");
        v("skip-spikes", o.skip_spikes,
          "skip steps whose loss or gradient norm is more than this many standard deviations above the mean of the 128 "
          "steps before, such as 6; 0: none");
        v("precision", o.precision,
          "of the operands of matrix products: fp32, or bf16 (fast on CPUs with AVX512_BF16 or AMX)");
        v("checkpoint-activations", o.checkpoint_activations,
          "recompute the activations of each block in backward: less memory, a third more time");
        v("sampler", o.sampler,
          "training sequences: random, shuffle (each once per epoch), sequential, or paragraphs (random, starting "
          "with a paragraph)");
        v("val-fraction", o.val_fraction, "fraction of the text at its end, kept for validation");
        v("seed", o.seed, "seed of initial weights, batches, dropout and samples");
        v("threads", o.threads, "max OpenMP threads; 0: the physical cores that this process may use");
        v("eval-every", o.eval_every, "steps between evaluations; 0: only at the end");
        v("eval-on-start", o.eval_on_start,
          "evaluate before the first step, too: that model is the best one if no step makes it better");
        v("eval-iters", o.eval_iters,
          "batches per evaluation, in sequences spread evenly over the validation part; 0: the whole part");
        v("patience", o.patience, "stop after this many evaluations without a better one; 0: never");
        v("save-every", o.save_every, "steps between checkpoints; 0: with every evaluation");
        v("sample-every", o.sample_every, "steps between samples of text; 0: none");
        v("sample-prompt", o.sample_prompt, "text that the samples continue; repeatable; none: any text");
        v("log-every", o.log_every, "steps between progress lines");
        v("replan", o.replan, "plan --max-iters again, once, when the steps take longer or shorter than expected");
        v("replan-step", o.replan_step, "step at which --max-iters was planned again; 0: never");
        v("planned-iters", o.planned_iters, "--max-iters before that step");
    }

    models::Architecture model_config(std::size_t tokens) const;  // of the tokenizer
    models::AdapterOptions adapter_options() const;               // rank 0: none
    std::size_t rows_per_shard() const { return batch_size / shards; }
    // Throws Error, naming the flag, for values that make no sense. With --init-from the heads need not fit the width:
    // the shape is that of the model there.
    void validate() const;
};

// Reads the keys of a config.toml over `options`, and names the flags that they stand for. Those of --overwrite and
// --resume, which older versions wrote, are passed over. Throws BadInput for unknown keys and values of the wrong type,
// Error, naming the flag, for a name that none of its kinds has.
std::set<std::string> read_toml(const std::filesystem::path& path, TrainOptions& options);
std::set<std::string> parse_toml(const std::string& text, const std::string& what, TrainOptions& options);
// All settings but --overwrite and --resume.
std::string to_toml(const TrainOptions& options);
// The values of a config.toml by their keys, as text: equal where two files say the same, however each was written.
// Throws BadInput for what is no TOML.
std::map<std::string, std::string> toml_values(const std::string& text, const std::string& what);
// All settings, by their keys in config.toml.
nlohmann::ordered_json settings_json(const TrainOptions& options);

}  // namespace inkling::train
