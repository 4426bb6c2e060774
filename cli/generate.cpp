// inkling generate
#include <chrono>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "data/file.h"
#include "data/utf8.h"
#include "data/utf8_stream.h"
#include "models/folder.h"
#include "models/generate.h"

namespace inkling::cli {
namespace {

struct Arguments {
    std::string model, prompt, prompt_file;
    models::GenerateOptions options;
    std::size_t num_samples = 1, threads = 0;
    bool json = false, no_prompt = false;
};

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string read_prompt(const Arguments& args) {
    std::string prompt = args.prompt;
    if (args.prompt_file == "-") {
        prompt = {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    } else if (!args.prompt_file.empty()) {
        prompt = data::read_file(args.prompt_file);
    }
    const std::size_t invalid = data::find_invalid_utf8(prompt);
    check<BadInput>(invalid == std::string::npos, "the prompt is not UTF-8: byte {} is 0x{:02X}", invalid,
                    static_cast<unsigned char>(invalid < prompt.size() ? prompt[invalid] : 0));
    return prompt;
}

// A text begins where another ends, else after a line's end; a model that knows neither begins with its first token.
std::vector<std::int32_t> beginning(const data::Tokenizer& tokenizer) {
    if (const auto end = tokenizer.end_of_text()) return {*end};
    try {
        return tokenizer.encode("\n");
    } catch (const BadInput&) {
        return {0};
    }
}

int generate_text(Arguments& args) {
    if (!(args.options.temperature >= 0))
        throw Usage(fmt::format("--temperature must be at least 0, got {}", args.options.temperature));
    set_threads(args.threads);
    const auto [model, tokenizer] = models::load_model(models::find_model(args.model));
    const std::string prompt = read_prompt(args);
    const std::vector<std::int32_t> ids = prompt.empty() ? beginning(*tokenizer) : tokenizer->encode(prompt);
    args.options.fit(*tokenizer);
    const std::atomic<int>& signal = catch_signals();
    if (!args.json) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(args.options.seed));
    for (std::size_t i = 0; i < args.num_samples && signal == 0; ++i) {
        args.options.sample = i;
        if (!args.json && i > 0) print("\n---\n");
        if (!args.json && !args.no_prompt) print(prompt);
        const double start = seconds_now();
        double first = start;
        std::string text;
        data::Utf8Stream stream;  // a token may end inside a character
        const auto add = [&](const std::string& piece) {
            text += piece;
            if (!args.json) print(piece);
        };
        std::size_t made = 0;
        models::generate(*model, ids, args.options, [&, &tokenizer = tokenizer](std::int32_t token) {
            if (made++ == 0) first = seconds_now();
            add(stream.push(tokenizer->decode(std::span(&token, 1))));
            return signal == 0;
        });
        add(stream.finish());
        const double end = seconds_now();
        if (!args.json) continue;
        const auto speed = [](std::size_t n, double seconds) {
            return seconds > 0 ? static_cast<double>(n) / seconds : 0.0;
        };
        const char* const reason = signal != 0                      ? "interrupted"
                                   : made < args.options.max_tokens ? "end_of_text"
                                                                    : "length";
        const nlohmann::ordered_json line = {{"text", text},
                                             {"tokens", made},
                                             {"prompt_tokens", prompt.empty() ? 0 : ids.size()},
                                             {"tok_s", speed(made > 0 ? made - 1 : 0, end - first)},
                                             {"prompt_tok_s", speed(ids.size(), first - start)},
                                             {"seed", args.options.seed},
                                             {"stop_reason", reason}};
        print(line.dump() + "\n");
    }
    if (!args.json) print("\n");
    return signal == 0 ? 0 : 128 + signal;
}

}  // namespace

Action add_generate(CLI::App& app) {
    auto args = std::make_shared<Arguments>();
    app.add_option("--model", args->model, "model folder, or the folder of a run")->required();
    auto* const prompt = app.add_option("-p,--prompt", args->prompt, "text to continue");
    app.add_option("-f,--prompt-file", args->prompt_file, "file with the text to continue; -: stdin")->excludes(prompt);
    app.add_option("-n,--max-tokens", args->options.max_tokens, "tokens to write")->capture_default_str();
    app.add_option("--temperature,--temp", args->options.temperature, "0: always the likeliest token; higher: wilder")
        ->capture_default_str();
    app.add_option("--top-k", args->options.top_k, "choose among the k likeliest tokens; 0: all")
        ->capture_default_str();
    app.add_option("--num-samples", args->num_samples, "texts to write")->capture_default_str();
    app.add_option("--seed", args->options.seed, "of the choices")->capture_default_str();
    app.add_option("--threads", args->threads, "OpenMP threads; 0: the physical cores")->capture_default_str();
    app.add_flag("--no-prompt", args->no_prompt, "write the continuation alone");
    app.add_flag("--json", args->json, "one JSON object a text");
    return [args] { return generate_text(*args); };
}

}  // namespace inkling::cli
