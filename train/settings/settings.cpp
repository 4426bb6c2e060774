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
         "text: files (also .gz, .zst), folders, quoted patterns such as 'books/*.txt', or - for stdin; .jsonl and "
         ".json files of conversations, prompts and completions, or texts, a document each; token ids: .npy, or .bin "
         "of uint16 or uint32, with --vocab-size; repeatable; --data may be left out"},
        {"tokenizer",
         &O::tokenizer,
         text,
         kUsual | kChosen | kTakesFile,
         "'char', 'bpe' (learned from the text), a tokenizer.json, or the folder of a model or a run; 'ids': the text "
         "is token ids",
         {"char", "bpe", "ids"}},
        {"vocab-size", &O::vocab_size, text, kUsual | kChosen,
         "vocabulary size that --tokenizer bpe learns, or that token ids have"},
        {"val-fraction", &O::val_fraction, text, kUsual | kChosen,
         "fraction of the text at its end, kept for validation"},
        {"exclude", &O::exclude, text, kMayChange | kReadsText,
         "skip files and folders that match this pattern, such as '*.log'; repeatable"},
        {"text-field", &O::text_field, text, kMayChange | kReadsText,
         "field of the text in .jsonl files (and stdin); each object's text is a document"},
        {"text-column", &O::text_column, text, kMayChange | kReadsText,
         "column of the text in .csv files (and stdin) with a header line; each row's text is a document"},
        {"lossy", &O::lossy, text, kMayChange | kReadsText,
         "replace bytes that are not UTF-8 by U+FFFD instead of refusing them"},
        {"skip-bad-lines", &O::skip_bad_lines, text, kMayChange | kReadsText,
         "skip lines of .jsonl files that are not documents, and count them"},
        {"loss-on", choice<&O::loss_on>(), text, 0,
         "tokens to learn in conversations, and in prompts with a completion: completions (answers, and the token that "
         "ends them) or all"},
        {"chat-template", choice<&O::chat_template>(), text, 0,
         "chat template for a model without one: chatml, or auto (chatml if it learns conversations)"},
        {"pre-tokenizer", choice<&O::pre_tokenizer>(), text, 0,
         "with --tokenizer bpe: pattern that splits text into words: gpt2, llama3, qwen2 or nanochat"},
        {"byte-fallback", choice<&O::byte_fallback>(), text, 0,
         "with --tokenizer char: 256 tokens for the bytes of rare and unknown characters: never, always, or auto "
         "(where that makes the vocabulary smaller; the recipe fast)"},
        {"strict-vocabulary", &O::strict_vocabulary, text, kMayChange,
         "refuse characters that the tokenizer does not know, instead of replacing them"},
        {"sampler", choice<&O::sampler>(), text, kChosen,
         "training sequences: random, shuffle (each once per epoch), sequential, or paragraphs (random, starting with "
         "a paragraph)"},
        // Model
        {"arch", &O::arch, model, kUsual, "gpt2, nanochat, inkling, llama, qwen2, qwen3, gpt-neox or gemma3",
         models::family_names()},
        {"n-layer", &O::n_layer, model, kUsual | kChosen, "transformer blocks"},
        {"n-head", &O::n_head, model, kUsual | kChosen, "attention heads"},
        {"n-embd", &O::n_embd, model, kUsual | kChosen, "width; a multiple of --n-head"},
        {"block-size", &O::block_size, model, kUsual | kChosen,
         "context size in tokens; with --init-from, the length of training sequences, at most the model's context"},
        {"dropout", &O::dropout, model, kUsual | kChosen, "dropout probability"},
        {"n-kv-head", &O::n_kv_head, model, 0,
         "nanochat, inkling, llama, qwen2, qwen3: heads of keys and values, shared by the attention heads; 0: "
         "--n-head"},
        {"n-inner", &O::n_inner, model, 0, "width of the feed-forward part; 0: 4 --n-embd"},
        {"head-dim", &O::head_dim, model, 0, "llama, qwen2, qwen3: width of a head; 0: --n-embd / --n-head"},
        {"rope-theta", &O::rope_theta, model, 0,
         "all but gpt2: base of the angles of rotary positions; 0: the family's, 10000"},
        {"softcap", &O::softcap, model, 0,
         "nanochat: cap of the logits; 0: no cap, which llama.cpp supports; below 0: the family's, 15"},
        {"bias", &O::bias, model, 0,
         "biases in linear layers and norms, where the family leaves the choice (qwen2 does not)"},
        // Time
        {"max-time", Duration{&O::max_time}, time, kUsual | kMayChange,
         "stop after this much time, evaluations included: seconds, or 90s, 5m, 1h30m; 0: no limit"},
        {"max-flops", &O::max_flops, time, kUsual | kMayChange,
         "train for this number of operations, such as 2e13, instead of --max-time: the same plan on any machine; 0: "
         "no limit"},
        {"max-iters", &O::max_iters, time, kUsual | kChosen | kMayChange, "training steps"},
        {"eval-every", &O::eval_every, time, kUsual | kChosen | kMayChange,
         "steps between evaluations; 0: only at the end"},
        {"patience", &O::patience, time, kUsual | kChosen | kMayChange,
         "stop after this many evaluations without a better one; 0: never"},
        {"eval-iters", &O::eval_iters, time, kChosen,
         "batches per evaluation, in sequences spread evenly over the validation part; 0: the whole part"},
        {"eval-on-start", &O::eval_on_start, time, kMayChange,
         "evaluate before the first step, too: that model is the best one if no step makes it better"},
        {"save-every", &O::save_every, time, kChosen | kMayChange,
         "steps between checkpoints; 0: with every evaluation"},
        {"save-at", &O::save_at, time, kMayChange, "steps whose checkpoints are kept, too, such as 1,2,4,8"},
        {"keep-checkpoints",
         &O::keep_checkpoints,
         time,
         kMayChange,
         "number of newest checkpoints to keep, or all; the best, and those of --save-at, are always kept, too",
         {"all"}},
        {"sample-every", &O::sample_every, time, kChosen | kMayChange, "steps between samples of text; 0: none"},
        {"log-every", &O::log_every, time, kChosen | kMayChange, "steps between progress lines"},
        // Optimizer
        {"optimizer", choice<&O::optimizer>(), optimizer, kUsual,
         "adamw; muon (for matrices in blocks, AdamW for embeddings, head and vectors); or sgd"},
        {"learning-rate", &O::learning_rate, optimizer, kUsual | kChosen, "peak learning rate"},
        {"batch-size", &O::batch_size, optimizer, kUsual | kChosen, "sequences per step"},
        {"weight-decay", &O::weight_decay, optimizer, kUsual | kChosen, "weight decay of matrices; vectors have none"},
        {"cautious-weight-decay", &O::cautious_weight_decay, optimizer, kChosen,
         "adamw, muon: decay only the weights that the update brings nearer to 0, too"},
        {"gradient-accumulation-steps", &O::gradient_accumulation_steps, optimizer, 0,
         "batches per step; their gradients are averaged"},
        {"shards", &O::shards, optimizer, 0,
         "equal parts of a step's batch, a power of two; their gradients are added as a tree, the same for any number "
         "of processes; default: the number of processes (mpirun), else 1"},
        {"min-lr", &O::min_lr, optimizer, 0, "learning rate at the end of the decay"},
        {"schedule", choice<&O::schedule>(), optimizer, 0,
         "after the warm-up: cosine, linear, wsd (stable, then decay) or constant"},
        {"warmup-iters", &O::warmup_iters, optimizer, 0, "warm-up steps, in which the learning rate rises linearly"},
        {"lr-decay-iters", &O::lr_decay_iters, optimizer, 0, "step at which --min-lr is reached; 0: --max-iters"},
        {"decay-fraction", &O::decay_fraction, optimizer, 0,
         "wsd: fraction of --lr-decay-iters at its end, in which the rate decays"},
        {"grad-clip", &O::grad_clip, optimizer, 0,
         "clip the gradient to this norm over all parameters; 0: no clipping"},
        {"beta1", &O::beta1, optimizer, 0, "AdamW's decay of the mean"},
        {"beta2", &O::beta2, optimizer, 0, "AdamW's decay of the mean square"},
        {"momentum", &O::momentum, optimizer, 0, "momentum of muon and sgd"},
        {"nesterov", &O::nesterov, optimizer, 0, "muon, sgd: Nesterov momentum"},
        {"ns-steps", &O::ns_steps, optimizer, 0, "muon: Newton-Schulz steps that make an update orthogonal"},
        {"ns-coefficients", choice<&O::ns_coefficients>(), optimizer, 0,
         "muon: the same for each Newton-Schulz step (original), or those of each step (polar-express), of which 4 do"},
        {"muon-split-heads", &O::muon_split_heads, optimizer, 0,
         "muon: orthogonalize the query, key and value matrices of each head separately"},
        {"muon-scale", choice<&O::muon_scale>(), optimizer, 0,
         "muon: adamw (updates of AdamW's size, for its learning rates); original (learning rates of about 0.02); or "
         "rows (as original, but all rows of an update have one length)"},
        {"embedding-lr", &O::embedding_lr, optimizer, kChosen,
         "adamw, muon: peak learning rate of the embeddings; 0: --learning-rate"},
        {"head-lr", &O::head_lr, optimizer, kChosen,
         "adamw, muon: peak learning rate of an untied head; 0: --learning-rate"},
        {"vector-lr", &O::vector_lr, optimizer, 0,
         "adamw, muon: peak learning rate of gains and biases; 0: --learning-rate"},
        {"ema", &O::ema, optimizer, kChosen,
         "evaluate and save a moving average of the weights with this decay, such as 0.999; 0: off"},
        {"skip-spikes", &O::skip_spikes, optimizer, 0,
         "skip steps with a loss or gradient norm more than this many standard deviations above the mean of the 128 "
         "steps before, such as 6; 0: none"},
        // Adapters
        {"lora-rank", &O::lora_rank, adapters, kUsual,
         "train low-rank adapters of this rank for the model of --init-from, which stays unchanged; 0: train the "
         "model"},
        {"init-adapter", &O::init_adapter, adapters, kUsual | kMayChange | kTakesFolder,
         "adapter to start from: the folder of a run or of PEFT; without --init-from, for the model that it names"},
        {"lora-alpha", &O::lora_alpha, adapters, 0, "scale of the adapters' product, divided by the rank"},
        {"lora-dropout", &O::lora_dropout, adapters, 0, "dropout probability of the adapters' input"},
        {"lora-targets",
         &O::lora_targets,
         adapters,
         0,
         "linear layers that get adapters: names such as q_proj,v_proj; all-linear: all but the head; "
         "all-linear,lm_head: all",
         {models::kAllLinear}},
        {"rs-lora", &O::rs_lora, adapters, 0, "divide --lora-alpha by the square root of the rank"},
        {"base-precision", choice<&O::base_precision>(), adapters, 0,
         "storage of the model's own weights while adapters train: fp32, bf16, q8_0, or file, as a GGUF file has them; "
         "default: file for a quantized GGUF file, else fp32"},
        // Run
        {"out", &O::out, run, kUsual | kMayChange | kEachProcess | kTakesFile,
         "directory of the run: checkpoints, config.toml, metrics.jsonl"},
        {"resume",
         &O::resume,
         run,
         kUsual | kOneStart | kTakesFolder,
         "'auto': resume from the newest checkpoint in --out, if there is one; or the checkpoint to resume from",
         {"auto"}},
        {"overwrite", &O::overwrite, run, kUsual | kOneStart, "replace the run that --out already holds"},
        {"init-from", &O::init_from, run, kUsual | kMayChange | kTakesFile,
         "model folder or GGUF file to start from, with its weights and tokenizer"},
        {"teacher", &O::teacher, run, kUsual | kMayChange | kTakesFile,
         "model with the same tokenizer whose predictions are learned, too; repeatable: their mean is learned"},
        {"teacher-weight", &O::teacher_weight, run, 0,
         "--teacher: fraction of each target that is the prediction; the rest is the next token of the text"},
        {"seed", &O::seed, run, kUsual, "seed of initial weights, batches, dropout and samples"},
        {"threads", &O::threads, run, kUsual | kMayChange | kEachProcess,
         "max OpenMP threads; 0: the physical cores that this process may use"},
        {"sample-prompt", &O::sample_prompt, run, kUsual | kMayChange,
         "text that the samples continue; repeatable; none: any text"},
        {"precision", choice<&O::precision>(), run, kChosen,
         "precision of the operands of matrix products: fp32, or bf16 (fast on CPUs with AVX512_BF16 or AMX)"},
        {"checkpoint-activations", &O::checkpoint_activations, run, kMayChange,
         "recompute the activations of each block in backward: less memory, a third more time"},
        // One start
        {"recipe", &O::recipe, run, kUsual | kStart,
         fmt::format("named settings, which other flags override: {}; default: stories without --data, finetune with "
                     "--init-from or --init-adapter, else fast",
                     fmt::join(recipe_names(), ", ")),
         recipe_names()},
        {"config", &O::config, run, kUsual | kStart | kTakesFile,
         "settings from a TOML file, such as a run's config.toml"},
        {"serve", &O::serve, run, kUsual | kStart,
         "[HOST:]PORT of a page that shows the run while it trains; on loopback, the default, it also asks for samples "
         "and stops the run"},
        {"allow-host", &O::allow_host, run, kUsual | kStart,
         "with --serve: another name for this machine in requests; repeatable"},
        {"api-key-file", &O::api_key_file, run, kUsual | kStart | kTakesFile,
         "with --serve: file with keys, one on a line; the page asks for one of them"},
        {"insecure", &O::insecure, run, kUsual | kStart,
         "with --serve: listen on other addresses than this machine's own without keys"},
        {"dry-run", &O::dry_run, run, kUsual | kStart,
         "print the parameters, memory, work and time of the run, and stop"},
        {"json", &O::json, run, kUsual | kStart, "print progress on stdout, one JSON object per line"},
        {"quiet", &O::quiet, run, kUsual | kStart, "print only warnings and errors on stderr"},
        {"processes", &O::processes, run, kStart,
         "with --dry-run: number of processes that mpirun will start, for the memory of each"},
        {"broadcast-data", &O::broadcast_data, run, kStart,
         "with several processes: the first reads the text and sends it to the others"},
        {"force", &O::force, run, kStart, "resume even if the text, the tokenizer or settings have changed"},
    };
}

}  // namespace

const std::vector<Setting>& settings() {
    static const std::vector<Setting> all = all_settings();
    return all;
}

}  // namespace inkling::train
