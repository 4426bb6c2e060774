#include "train/settings/settings.h"

#include <fmt/ranges.h>

#include "models/families/family.h"
#include "train/recipes/recipes.h"

namespace inkling::train {
namespace {

using O = TrainOptions;
constexpr unsigned kStart = kOneStart | kCommand;

template <auto field>
Choice choice() {
    using E = std::remove_cvref_t<decltype(O().*field)>;
    return {[](const O& o) -> std::string { return name_of(o.*field); },
            [](O& o, const std::string& flag, const std::string& name) {
                o.*field = about_settings([&] { return named<E>(flag, name); });
            },
            &names_of<E>};
}

std::vector<Setting> all_settings() {
    using enum Group;
    return {
        // Text
        {"data", &O::data, text, kUsual | kMayChange | kReadsText | kEachProcess | kTakesFile,
         "text: files (.gz and .zst too), folders, quoted globs, or - for stdin; .jsonl and .json hold one example per "
         "record, .npy and .bin token ids; repeatable; the flag's name may be omitted"},
        {"tokenizer",
         &O::tokenizer,
         text,
         kUsual | kChosen | kTakesFile,
         "char, bpe (learned from the text), ids (the text is token ids), a tokenizer.json, or the folder of a model "
         "or run",
         "NAME",
         {"char", "bpe", "ids"}},
        {"vocab-size", &O::vocab_size, text, kUsual | kChosen,
         "vocabulary size, for --tokenizer bpe and for token ids"},
        {"val-fraction", &O::val_fraction, text, kUsual | kChosen, "share of the text, at its end, for validation"},
        {"exclude", &O::exclude, text, kMayChange | kReadsText,
         "skip files and folders that match a glob, such as '*.log'; repeatable", "GLOB"},
        {"text-field", &O::text_field, text, kMayChange | kReadsText,
         "key of the text in .jsonl files and stdin; each line is a document", "NAME"},
        {"text-column", &O::text_column, text, kMayChange | kReadsText,
         "column of the text in .csv files and stdin with a header line; each row is a document", "NAME"},
        {"lossy", &O::lossy, text, kMayChange | kReadsText,
         "replace bytes that are not UTF-8 by U+FFFD instead of refusing them"},
        {"skip-bad-lines", &O::skip_bad_lines, text, kMayChange | kReadsText,
         "skip and count lines of .jsonl files that are not documents"},
        {"loss-on", choice<&O::loss_on>(), text, 0,
         "tokens to learn in conversations and prompts with a completion: completions (answers and the token that ends "
         "them) or all"},
        {"chat-template", choice<&O::chat_template>(), text, 0,
         "chat template for a model without one: chatml, or auto (chatml if the data are conversations)"},
        {"pre-tokenizer", choice<&O::pre_tokenizer>(), text, 0,
         "with --tokenizer bpe: how text is split into words: gpt2, llama3, qwen2 or nanochat"},
        {"byte-fallback", choice<&O::byte_fallback>(), text, 0,
         "with --tokenizer char: spell rare and unknown characters as bytes: never, always, or auto (if the vocabulary "
         "gets smaller)"},
        {"strict-vocabulary", &O::strict_vocabulary, text, kMayChange,
         "refuse characters unknown to the tokenizer instead of replacing them"},
        {"sampler", choice<&O::sampler>(), text, kChosen,
         "order of training sequences: random, shuffle (each once per epoch), sequential, or paragraphs (random, each "
         "starts a paragraph)"},
        // Model
        {"arch", &O::arch, model, kUsual, "gpt2, nanochat, inkling, llama, qwen2, qwen3, gpt-neox or gemma3", "NAME",
         models::family_names()},
        {"n-layer", &O::n_layer, model, kUsual | kChosen, "transformer blocks"},
        {"n-head", &O::n_head, model, kUsual | kChosen, "attention heads"},
        {"n-embd", &O::n_embd, model, kUsual | kChosen, "width; a multiple of --n-head"},
        {"block-size", &O::block_size, model, kUsual | kChosen,
         "context size in tokens; with --init-from, the length of training sequences, at most the model's context"},
        {"dropout", &O::dropout, model, kUsual | kChosen, "dropout probability"},
        {"n-kv-head", &O::n_kv_head, model, 0,
         "nanochat, inkling, llama, qwen2, qwen3: key and value heads, shared by the attention heads; 0: --n-head"},
        {"n-inner", &O::n_inner, model, 0, "width of the feed-forward layer; 0: 4 --n-embd"},
        {"head-dim", &O::head_dim, model, 0, "llama, qwen2, qwen3: width of a head; 0: --n-embd / --n-head"},
        {"rope-theta", &O::rope_theta, model, 0, "all but gpt2: base of the rotary angles; 0: the family's, 10000"},
        {"softcap", &O::softcap, model, 0,
         "nanochat: soft cap on the logits; 0: none, as llama.cpp needs; below 0: the family's, 15"},
        {"bias", &O::bias, model, 0, "use biases in linear layers and norms, if the family has both forms"},
        // Time
        {"max-time", Duration{&O::max_time}, time, kUsual | kMayChange,
         "training time, evaluations included: 90s, 5m, 1h30m, or seconds; 0: no limit"},
        {"max-flops", &O::max_flops, time, kUsual | kMayChange,
         "budget in operations, such as 2e13, instead of --max-time: the same plan on any machine; 0: no limit"},
        {"max-iters", &O::max_iters, time, kUsual | kChosen | kMayChange, "maximum number of training steps"},
        {"eval-every", &O::eval_every, time, kUsual | kChosen | kMayChange,
         "steps between evaluations; 0: only at the end"},
        {"patience", &O::patience, time, kUsual | kChosen | kMayChange,
         "stop after N evaluations without improvement; 0: never"},
        {"eval-iters", &O::eval_iters, time, kChosen,
         "batches per evaluation, spread evenly over the validation part; 0: all of it"},
        {"eval-on-start", &O::eval_on_start, time, kMayChange,
         "evaluate before the first step too; that model stays the best one if training does not improve it"},
        {"save-every", &O::save_every, time, kChosen | kMayChange, "steps between checkpoints; 0: at every evaluation"},
        {"save-at", &O::save_at, time, kMayChange, "also save and keep the checkpoints of these steps, such as 1,2,4,8",
         "STEPS"},
        {"keep-checkpoints",
         &O::keep_checkpoints,
         time,
         kMayChange,
         "number of newest checkpoints to keep, or all; the best and those of --save-at are always kept",
         "N",
         {"all"}},
        {"sample-every", &O::sample_every, time, kChosen | kMayChange, "steps between samples of text; 0: none"},
        {"log-every", &O::log_every, time, kChosen | kMayChange, "steps between progress lines"},
        // Optimizer
        {"optimizer", choice<&O::optimizer>(), optimizer, kUsual,
         "adamw, sgd, or muon (for matrices in blocks; AdamW for embeddings, head and vectors)"},
        {"learning-rate", &O::learning_rate, optimizer, kUsual | kChosen, "peak learning rate"},
        {"batch-size", &O::batch_size, optimizer, kUsual | kChosen, "sequences per step"},
        {"weight-decay", &O::weight_decay, optimizer, kUsual | kChosen, "weight decay of matrices; vectors have none"},
        {"cautious-weight-decay", &O::cautious_weight_decay, optimizer, kChosen,
         "adamw, muon: apply weight decay only where the update also shrinks the weight"},
        {"gradient-accumulation-steps", &O::gradient_accumulation_steps, optimizer, 0,
         "batches per step, whose gradients are averaged"},
        {"shards", &O::shards, optimizer, 0,
         "equal parts of a step's batch, a power of two; the same number gives the same bits for any number of "
         "processes; default: the number of processes"},
        {"min-lr", &O::min_lr, optimizer, 0, "learning rate at the end of the decay"},
        {"schedule", choice<&O::schedule>(), optimizer, 0,
         "learning rate after the warm-up: cosine, linear, wsd (stable, then decay) or constant"},
        {"warmup-iters", &O::warmup_iters, optimizer, 0, "steps in which the learning rate rises linearly"},
        {"lr-decay-iters", &O::lr_decay_iters, optimizer, 0,
         "step at which the learning rate reaches --min-lr; 0: --max-iters"},
        {"decay-fraction", &O::decay_fraction, optimizer, 0,
         "wsd: the last share of --lr-decay-iters, in which the learning rate decays"},
        {"grad-clip", &O::grad_clip, optimizer, 0, "clip the gradient's norm over all parameters; 0: off"},
        {"beta1", &O::beta1, optimizer, 0, "AdamW: decay of the gradients' mean"},
        {"beta2", &O::beta2, optimizer, 0, "AdamW: decay of the gradients' mean square"},
        {"momentum", &O::momentum, optimizer, 0, "muon, sgd: momentum"},
        {"nesterov", &O::nesterov, optimizer, 0, "muon, sgd: use Nesterov momentum"},
        {"ns-steps", &O::ns_steps, optimizer, 0, "muon: Newton-Schulz steps that make an update orthogonal"},
        {"ns-coefficients", choice<&O::ns_coefficients>(), optimizer, 0,
         "muon: coefficients of the Newton-Schulz steps: original (equal steps) or polar-express (4 steps suffice)"},
        {"muon-split-heads", &O::muon_split_heads, optimizer, 0,
         "muon: orthogonalize the query, key and value matrices of each head separately"},
        {"muon-scale", choice<&O::muon_scale>(), optimizer, 0,
         "muon: size of an update: adamw (AdamW's, for its learning rates), original (for learning rates near 0.02), "
         "or rows (original, with rows of equal length)"},
        {"embedding-lr", &O::embedding_lr, optimizer, kChosen,
         "adamw, muon: peak learning rate of the embeddings; 0: --learning-rate"},
        {"head-lr", &O::head_lr, optimizer, kChosen,
         "adamw, muon: peak learning rate of an untied head; 0: --learning-rate"},
        {"vector-lr", &O::vector_lr, optimizer, 0,
         "adamw, muon: peak learning rate of gains and biases; 0: --learning-rate"},
        {"ema", &O::ema, optimizer, kChosen,
         "evaluate and save a moving average of the weights with decay X, such as 0.999; 0: off"},
        {"skip-spikes", &O::skip_spikes, optimizer, 0,
         "skip steps whose loss or gradient norm is more than X standard deviations above the mean of the last 128 "
         "steps, such as 6; 0: off"},
        // Adapters
        {"lora-rank", &O::lora_rank, adapters, kUsual,
         "train low-rank adapters of rank N for the model of --init-from; 0: train the model itself"},
        {"init-adapter", &O::init_adapter, adapters, kUsual | kMayChange | kTakesFolder,
         "adapter to start from: the folder of a run or of PEFT; its model is --init-from, else the one in its config"},
        {"lora-alpha", &O::lora_alpha, adapters, 0, "scale of the adapters, divided by the rank"},
        {"lora-dropout", &O::lora_dropout, adapters, 0, "dropout probability of the adapters' inputs"},
        {"lora-targets",
         &O::lora_targets,
         adapters,
         0,
         "layers that get adapters: names such as q_proj,v_proj; all-linear: all linear layers but the head",
         "LAYERS",
         {models::kAllLinear}},
        {"rs-lora", &O::rs_lora, adapters, 0, "divide --lora-alpha by the square root of the rank"},
        {"base-precision", choice<&O::base_precision>(), adapters, 0,
         "type of the model's weights while adapters train: fp32, bf16, q8_0 or file (as in the GGUF file); default: "
         "file for a quantized GGUF file, else fp32"},
        // Run
        {"out", &O::out, run, kUsual | kMayChange | kEachProcess | kTakesFolder,
         "folder of the run: checkpoints, config.toml, metrics.jsonl"},
        {"resume",
         &O::resume,
         run,
         kUsual | kOneStart | kTakesFolder,
         "checkpoint to resume from, or auto: the newest one in --out, if any",
         "DIR",
         {"auto"}},
        {"overwrite", &O::overwrite, run, kUsual | kOneStart, "replace the run in --out"},
        {"init-from", &O::init_from, run, kUsual | kMayChange | kTakesFile,
         "start from the weights and tokenizer of a model: the folder of a model or run, or a GGUF file", "MODEL"},
        {"teacher", &O::teacher, run, kUsual | kMayChange | kTakesFile,
         "distil from this model (same tokenizer); repeat to average several", "MODEL"},
        {"teacher-weight", &O::teacher_weight, run, 0,
         "weight of the teacher's prediction in each target; the rest is the text's next token"},
        {"seed", &O::seed, run, kUsual, "seed for initial weights, batches, dropout and samples"},
        {"threads", &O::threads, run, kUsual | kMayChange | kEachProcess,
         "maximum number of threads; 0: one for each physical core"},
        {"sample-prompt", &O::sample_prompt, run, kUsual | kMayChange, "text for the samples to continue; repeatable"},
        {"precision", choice<&O::precision>(), run, kChosen,
         "matrix products in fp32, or in bf16 (faster on CPUs with AVX512_BF16 or AMX)"},
        {"checkpoint-activations", &O::checkpoint_activations, run, kMayChange,
         "recompute activations in backward: less memory, a third more time"},
        // One start
        {"recipe", &O::recipe, run, kUsual | kStart,
         fmt::format("choices for all settings that are not given: {}; default: stories without --data, finetune with "
                     "--init-from or --init-adapter, else fast",
                     fmt::join(recipe_names(), ", ")),
         "NAME", recipe_names()},
        {"config", &O::config, run, kUsual | kStart | kTakesFile,
         "read settings from a TOML file, such as a run's config.toml"},
        {"serve", &O::serve, run, kUsual | kStart,
         "show the run on a web page at [HOST:]PORT while it trains; on this machine (the default host) the page can "
         "also ask for samples and stop the run",
         "ADDRESS"},
        {"allow-host", &O::allow_host, run, kUsual | kStart,
         "with --serve: accept requests to another name of this machine; repeatable", "NAME"},
        {"api-key-file", &O::api_key_file, run, kUsual | kStart | kTakesFile,
         "with --serve: require one of the keys in this file, one per line"},
        {"insecure", &O::insecure, run, kUsual | kStart, "with --serve: let other machines connect without a key"},
        {"dry-run", &O::dry_run, run, kUsual | kStart, "only print the run's parameters, memory, work and time"},
        {"json", &O::json, run, kUsual | kStart, "print events on stdout, one JSON object per line"},
        {"quiet", &O::quiet, run, kUsual | kStart, "print only warnings and errors"},
        {"processes", &O::processes, run, kStart, "with --dry-run: print the memory of each of N processes"},
        {"broadcast-data", &O::broadcast_data, run, kStart,
         "with mpirun: only the first process reads the text, and sends it to the others"},
        {"force", &O::force, run, kStart, "resume even if the text, the tokenizer or settings have changed"},
    };
}

}  // namespace

const std::vector<Setting>& settings() {
    static const std::vector<Setting> all = all_settings();
    return all;
}

}  // namespace inkling::train
