// inkling generate
#include "cli/generate.h"

#include <utility>

#include "cli/common.h"
#include "cli/model_argument.h"
#include "cli/prompt.h"
#include "formats/named.h"
#include "formats/utf8.h"

namespace inkling::cli {
namespace {

constexpr std::size_t kTogether = 16;  // texts that are written at once: each has a cache of its own

struct GenerateArguments {
    std::string model, prompt, prompt_file, precision = "fp32", quantize;
    WritingOptions writing;
    std::size_t num_samples = 1, threads = 0;
    bool interactive = false;
};

struct Prompt {
    std::string text;
    // The last tokens, which the model sees. Of a longer prompt, those before them stand there once each: they count
    // for
    // --repeat-penalty.
    std::vector<std::int32_t> ids;
    std::size_t tokens = 0;  // all of them
};

// A prompt may be far longer than what the model sees, and need not be in memory as tokens.
void encode_prompt(const data::Tokenizer& tokenizer, std::size_t context, Prompt& prompt) {
    std::vector<bool> seen(tokenizer.vocab_size());
    std::vector<std::int32_t> before;
    const auto drop = [&](std::size_t n) {
        const auto end = prompt.ids.begin() + static_cast<std::ptrdiff_t>(n);
        for (auto id = prompt.ids.begin(); id != end; ++id) {
            if (!seen[static_cast<std::size_t>(*id)]) before.push_back(*id);
            seen[static_cast<std::size_t>(*id)] = true;
        }
        prompt.ids.erase(prompt.ids.begin(), end);
    };
    tokenizer.encode_parts(prompt.text, [&](std::span<const std::int32_t> ids, std::size_t) {
        prompt.ids.insert(prompt.ids.end(), ids.begin(), ids.end());
        prompt.tokens += ids.size();
        if (prompt.ids.size() > 2 * context) drop(prompt.ids.size() - context);
    });
    if (prompt.ids.size() > context) drop(prompt.ids.size() - context);
    prompt.ids.insert(prompt.ids.begin(), before.begin(), before.end());
}

Prompt make_prompt(const GenerateArguments& args, const data::Tokenizer& tokenizer,
                   const models::Architecture& config) {
    PromptText read = read_prompt(args.prompt, args.prompt_file);
    Prompt prompt{std::move(read.text), {}, 0};
    formats::named(read.source, [&] {
        const std::size_t invalid = formats::find_invalid_utf8(prompt.text);
        check<BadInput>(invalid == std::string::npos, "not UTF-8: byte {} is 0x{:02X}: convert it first", invalid,
                        static_cast<unsigned char>(invalid < prompt.text.size() ? prompt.text[invalid] : 0));
        encode_prompt(tokenizer, config.block_size, prompt);
    });
    if (prompt.text.empty()) prompt.ids = beginning(tokenizer, config);
    return prompt;
}

models::WeightType weight_type(const GenerateArguments& args) {
    if (args.quantize == "q8_0") return models::WeightType::q8_0;
    return args.precision == "bf16" ? models::WeightType::bf16 : models::WeightType::fp32;
}

// Copies of `begun`, which is read once. `reading`: the seconds that it took, which count for every text.
std::vector<WrittenText> several(models::Generator& begun, const data::Tokenizer& tokenizer,
                                 const WritingOptions& writing, std::size_t first, std::size_t n, double& reading) {
    const double start = seconds_now();
    if (!begun.ended()) begun.read();
    if (first == 0) reading = seconds_now() - start;
    std::vector<WrittenText> texts;
    for (std::size_t i = 0; i < n; ++i)
        texts.emplace_back(begun.another(first + i), tokenizer, writing.stops, writing.logprobs,
                           seconds_now() - reading);
    return texts;
}

// Texts first .. first + n - 1, written as a batch; each is printed as it comes, once those before it are done.
void write_together(models::Generator& begun, const data::Tokenizer& tokenizer, const Prompt& prompt,
                    const WritingOptions& writing, std::size_t first, std::size_t n, double& reading,
                    const std::atomic<int>& signal) {
    std::vector<WrittenText> texts;
    for (std::size_t shown = 0; shown < n; ++shown) {
        if (signal != 0 && shown > 0) return;
        if (!writing.json && first + shown > 0) print("\n---\n");
        if (!writing.json && !writing.no_prompt) print(prompt.text);
        if (texts.empty()) texts = several(begun, tokenizer, writing, first, n, reading);
        WrittenText& text = texts[shown];
        while (true) {
            if (signal != 0) text.end("interrupted");
            if (!writing.json) print(text.take());
            if (text.done()) break;
            WrittenText::advance(texts);
        }
        if (writing.json) print(text.json(prompt.tokens, writing.options.seed).dump() + "\n");
    }
}

int generate_text(GenerateArguments& args) {
    WritingOptions& writing = args.writing;
    try {
        writing.options.validate();
        data::StopTexts stops(writing.stops);
    } catch (const Error& e) {
        throw Usage(e.what());
    }
    if (args.num_samples == 0) throw Usage("--num-samples must be at least 1, got 0");
    if (writing.logprobs > 0 && !writing.json) throw Usage("--logprobs is shown with --json alone: add --json");
    set_threads(args.threads);
    auto [model, tokenizer] = load_current(args.model);
    const Prompt prompt = make_prompt(args, *tokenizer, model->config);
    writing.options.fit(*tokenizer);
    const std::size_t context = model->config.block_size;
    if (writing.options.context_shift > context)
        throw Usage(fmt::format("--context-shift must be at most the context of {}, got {}", context,
                                writing.options.context_shift));
    const auto decoder = std::make_shared<const models::Decoder>(*model, weight_type(args));
    model.reset();  // the decoder has what it needs
    if (!writing.json) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(writing.options.seed));
    if (args.interactive) return write_interactively(decoder, *tokenizer, prompt.text, writing);
    if (prompt.tokens > context)
        std::fprintf(stderr, "the prompt has %zu tokens: the model sees the last %zu\n", prompt.tokens, context);
    const std::atomic<int>& signal = catch_signals();
    models::Generator begun(decoder, writing.options);
    begun.add(prompt.ids);
    double reading = 0;
    for (std::size_t i = 0; i < args.num_samples && signal == 0; i += kTogether) {
        write_together(begun, *tokenizer, prompt, writing, i, std::min(kTogether, args.num_samples - i), reading,
                       signal);
    }
    if (!writing.json) print("\n");
    return signal == 0 ? 0 : 128 + signal;
}

}  // namespace

std::vector<std::int32_t> beginning(const data::Tokenizer& tokenizer, const models::Architecture& config) {
    if (const auto end = tokenizer.end_of_text(); end && config.has_bos) return {*end};
    try {
        return tokenizer.encode("\n");
    } catch (const BadInput&) {
        return {0};
    }
}

Action add_generate(CLI::App& app) {
    auto args = std::make_shared<GenerateArguments>();
    WritingOptions& writing = args->writing;
    models::GenerateOptions& options = writing.options;
    app.add_option("--model", args->model, "model folder, or the folder of a run")->required();
    auto* const prompt = app.add_option("-p,--prompt", args->prompt, "text to continue");
    auto* const file =
        app.add_option("-f,--prompt-file", args->prompt_file, "file with the text to continue; -: stdin");
    file->excludes(prompt);
    app.add_option("-n,--max-tokens", options.max_tokens, "tokens to write")->capture_default_str();
    app.add_option("--temperature,--temp", options.temperature, "0: always the likeliest token; higher: wilder")
        ->capture_default_str();
    app.add_option("--top-k", options.top_k, "choose among the k likeliest tokens; 0: all")->capture_default_str();
    app.add_option("--top-p", options.top_p, "of those, among the fewest likeliest that make up p; 1: all")
        ->capture_default_str();
    app.add_option("--min-p", options.min_p, "of those, among those min_p times as likely as the likeliest; 0: all")
        ->capture_default_str();
    app.add_option("--repeat-penalty", options.repeat_penalty,
                   "makes tokens that the text has already less likely; comes first, then temperature, top-k, top-p, "
                   "min-p; 1: off")
        ->capture_default_str();
    app.add_option("--stop", writing.stops, "ends a text before this; repeatable")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    auto* const samples = app.add_option("--num-samples", args->num_samples, "texts to write")->capture_default_str();
    app.add_option("--seed", options.seed, "of the choices")->capture_default_str();
    app.add_option("--context-shift", options.context_shift,
                   "oldest tokens that leave a full context at once; 0: half of it")
        ->capture_default_str();
    auto* const precision = app.add_option("--precision", args->precision, "of the weights: fp32 or bf16")
                                ->check(CLI::IsMember({"fp32", "bf16"}))
                                ->capture_default_str();
    app.add_option("--quantize", args->quantize, "weights in 8 bits, as llama.cpp: q8_0")
        ->check(CLI::IsMember({"q8_0"}))
        ->excludes(precision);
    app.add_option("--threads", args->threads, "OpenMP threads; 0: the physical cores")->capture_default_str();
    app.add_flag("--no-prompt", writing.no_prompt, "write the continuation alone");
    app.add_flag("--interactive", args->interactive, "continue what you type, line by line")
        ->excludes(samples)
        ->excludes(file);
    app.add_flag("--json", writing.json, "one JSON object a text");
    app.add_option("--logprobs", writing.logprobs,
                   "with --json: log-probabilities of each token and of the N likeliest in its place; 0: none")
        ->capture_default_str();
    return [args] { return generate_text(*args); };
}

}  // namespace inkling::cli
