// inkling generate
#include <nlohmann/json.hpp>
#include <random>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/prompt.h"
#include "cli/arguments/sampling_flags.h"
#include "cli/common.h"
#include "cli/log.h"
#include "cli/signals.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "formats/named.h"
#include "generate/sequence.h"

namespace inkling::cli {
namespace {

using nlohmann::ordered_json;

struct WritingOptions {
    generate::GenerateOptions options;
    bool json = false, no_prompt = false;
};

constexpr std::size_t kTogether = 16;  // texts generated at once, each with its own cache

struct GenerateArguments {
    ModelArgument model;
    std::string prompt, prompt_file;
    WeightFlags weights;
    WritingOptions writing;
    std::size_t num_samples = 1, threads = 0, logprobs = 0;
    bool strict = false;
};

ordered_json json_of(const generate::Logprob& p, const data::Tokenizer& tokenizer) {
    const bool known = static_cast<std::size_t>(p.id) < tokenizer.vocab_size();
    const std::string piece = known ? tokenizer.decode_more(std::span(&p.id, 1)) : "";
    return {{"id", p.id}, {"text", generate::to_valid_utf8(piece)}, {"logprob", p.logprob}};
}

ordered_json json_of(generate::Sequence& text, const data::Tokenizer& tokenizer,
                     const generate::GenerateOptions& options) {
    const auto speed = [](std::size_t n, double seconds) {
        return seconds > 0 ? static_cast<double>(n) / seconds : 0.0;
    };
    const std::size_t n = text.generated().size();
    ordered_json line = {{"text", text.take()},
                         {"tokens", n},
                         {"prompt_tokens", text.prompt_tokens()},
                         {"tok_s", speed(n > 0 ? n - 1 : 0, text.seconds())},
                         {"prompt_tok_s", speed(text.prompt_tokens(), text.prompt_seconds())},
                         {"seed", options.seed},
                         {"stop_reason", name(text.finish_reason())}};
    if (!options.logprobs) return line;
    line["logprobs"] = ordered_json::array();
    for (const generate::TokenLogprobs& token : text.logprobs()) {
        ordered_json& entry = line["logprobs"].emplace_back(json_of(token, tokenizer));
        for (const generate::Logprob& p : token.top) entry["top"].push_back(json_of(p, tokenizer));
    }
    return line;
}

// Prints {"prompt":"...", and then `rest`. The prompt may fill most of memory, so it is escaped and printed in parts of
// a megabyte of whole characters.
void print_json(const std::string& prompt, const ordered_json& rest) {
    constexpr std::size_t kBytes = 1'000'000;
    print("{\"prompt\":\"");
    for (std::size_t begin = 0, end = 0; begin < prompt.size(); begin = end) {
        end = std::min(begin + kBytes, prompt.size());
        while (end < prompt.size() && (prompt[end] & 0xC0) == 0x80) ++end;
        const std::string escaped = ordered_json(prompt.substr(begin, end - begin)).dump();
        print(escaped.substr(1, escaped.size() - 2));
    }
    print("\"," + rest.dump().substr(1) + "\n");
}

// Generates `text`, one of `batch`, to its end or up to a signal, and prints it as it is made; with --json, at its end,
// together with the `prompt`.
void print_text(generate::Sequence& text, std::span<generate::Sequence* const> batch, const data::Tokenizer& tokenizer,
                const std::string& prompt, const WritingOptions& writing) {
    const std::atomic<int>& signal = catch_signals();
    while (true) {
        if (signal != 0) text.finish();
        if (!writing.json) print(text.take());
        if (text.finished()) break;
        until_signal([&] { generate::step(batch); });
    }
    if (writing.json) print_json(prompt, json_of(text, tokenizer, writing.options));
}

// Generates samples first .. first + n - 1 of `begun` as a batch. Prints each as it is generated, once the ones before
// it are complete. The last of all samples takes its memory over.
void write_together(generate::Sequence& begun, const data::Tokenizer& tokenizer, const std::string& prompt,
                    const WritingOptions& writing, std::size_t first, std::size_t n, bool last) {
    const std::atomic<int>& signal = catch_signals();
    std::vector<generate::Sequence> texts;
    std::vector<generate::Sequence*> batch;
    for (std::size_t shown = 0; shown < n; ++shown) {
        if (signal != 0 && shown > 0) return;
        if (!writing.json && first + shown > 0) print("\n---\n");
        if (!writing.json && !writing.no_prompt) print(prompt);
        if (texts.empty()) {
            if (!begun.finished()) until_signal([&] { begun.prefill(); });
            for (std::size_t i = 0; i + last < n; ++i) texts.push_back(begun.fork(first + i));
            if (last) texts.push_back(std::move(begun).fork(first + n - 1));
            for (generate::Sequence& text : texts) batch.push_back(&text);
        }
        print_text(texts[shown], batch, tokenizer, prompt, writing);
    }
}

int generate_text(GenerateArguments& args) {
    WritingOptions& writing = args.writing;
    train::about_settings([&] { writing.options.validate(); });
    check<Usage>(args.num_samples > 0, "--num-samples must be at least 1, got 0");
    check<Usage>(args.logprobs == 0 || writing.json, "--logprobs is shown with --json alone: add --json");
    if (args.logprobs > 0) writing.options.logprobs = args.logprobs;
    set_threads(args.threads);
    auto [model, tokenizer] = load_for_inference(args.model, args.weights);
    tokenizer->take_unknown(args.strict);
    const PromptText prompt = read_prompt(args.prompt, args.prompt_file);
    check_utf8(prompt);
    const std::size_t context = model->config().block_size;
    check<Usage>(writing.options.context_shift <= context, "--context-shift must be at most the context of {}, got {}",
                 context, writing.options.context_shift);
    generate::Sequence text(model, tokenizer.get(), writing.options);
    formats::named(prompt.source, [&] { text.add(prompt.text); });
    say_replaced(*tokenizer);
    if (args.prompt_file != "-") advise_on_input(!prompt.text.empty());
    if (!writing.json) spdlog::info("seed {}", writing.options.seed);
    if (text.prompt_tokens() > context)
        spdlog::info("the prompt has {} tokens: the model sees the last {}", text.prompt_tokens(), context);
    const std::atomic<int>& signal = catch_signals();
    for (std::size_t i = 0; i < args.num_samples && signal == 0; i += kTogether) {
        const std::size_t n = std::min(kTogether, args.num_samples - i);
        write_together(text, *tokenizer, prompt.text, writing, i, n, i + n == args.num_samples);
    }
    if (!writing.json) print("\n");
    return 0;
}

}  // namespace

Action add_generate(CLI::App& app) {
    auto args = std::make_shared<GenerateArguments>();
    WritingOptions& writing = args->writing;
    generate::GenerateOptions& options = writing.options;
    add_model_flags(app, args->model);
    auto* const prompt = app.add_option("-p,--prompt", args->prompt, "text to continue");
    auto* const file =
        offer(*app.add_option("-f,--prompt-file", args->prompt_file, "file with the prompt; -: stdin"), {kFiles});
    file->excludes(prompt);
    options.seed = std::random_device()();
    add_sampling_flags(app, options);
    app.add_option("--num-samples", args->num_samples, "number of texts to write");
    app.add_option("--context-shift", options.context_shift,
                   "when the context is full, drop its N oldest tokens; 0: the older half");
    add_weight_flags(app, args->weights);
    add_cache_flag(app, args->weights);
    app.add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    app.add_flag("--strict-vocabulary", args->strict, kStrictHelp);
    app.add_flag("--special-tokens", options.special_tokens,
                 "read special tokens in the prompt, such as <|endoftext|>, as tokens, not as text");
    app.add_flag("--no-prompt", writing.no_prompt, "write only the continuation");
    app.add_flag("--json", writing.json, "print one JSON object per text");
    app.add_option("--logprobs", args->logprobs,
                   "with --json: log-probabilities of each token and of the N most likely ones; 0: none");
    return [args] { return generate_text(*args); };
}

}  // namespace inkling::cli
