// inkling serve
#include <malloc.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "cli/common.h"
#include "cli/model_argument.h"
#include "cli/unknown_flag.h"
#include "cli/wrong_usage.h"
#include "formats/file.h"
#include "formats/utf8.h"
#include "serve/api.h"

namespace inkling::cli {
namespace {

struct ServeArguments {
    std::vector<std::string> models;
    std::string adapter, key_file, precision = "fp32", quantize;
    std::size_t threads = 0, port = 8080;
    serve::ApiOptions api;
};

// Threads come and go with connections. What they free is given back to the system, and not kept for each of them; nor
// does it stay as small blocks between which the heap grows (8 MB after 10,000 requests of a tiny model, else 1).
void keep_little_memory() {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MXFAST, 0);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

// NAME=DIR, or DIR, whose last part is the name.
std::pair<std::string, std::string> name_and_folder(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos && equals > 0 && !formats::is_there(argument))
        return {argument.substr(0, equals), argument.substr(equals + 1)};
    std::error_code none;
    std::filesystem::path path = std::filesystem::absolute(argument, none).lexically_normal();
    if (path.filename().empty()) path = path.parent_path();
    return {path.filename().string(), argument};
}

// One on each line; empty lines and those that begin with # are none.
std::vector<std::string> read_keys(const std::string& file) {
    std::vector<std::string> keys;
    std::istringstream lines(formats::read_file(file, formats::FileKind::prompt));
    for (std::string line; std::getline(lines, line);) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        if (!line.empty() && line[0] != '#') keys.push_back(line);
    }
    check<BadInput>(!keys.empty(), "{}: a key on a line of its own is required: the file has none", file);
    return keys;
}

std::string described(const serve::ServedModel& model) {
    return fmt::format("{}: {} layers, width {}, context {}, vocabulary {}{}", model.name,
                       model.decoder->config().n_layer, model.decoder->config().n_embd, model.context(),
                       model.tokenizer->vocab_size(), model.chat ? ", chat" : "");
}

int serve_models(ServeArguments& args) {
    serve::ApiOptions& options = args.api;
    options.http.port = static_cast<int>(args.port);
    if (!args.key_file.empty()) options.http.keys = read_keys(args.key_file);
    if (!serve::is_loopback(options.http.host) && options.http.keys.empty() && !options.http.insecure)
        throw Usage(
            fmt::format("--host {}: anybody who reaches this machine could use the models: --api-key-file FILE "
                        "asks for a key, --insecure serves without",
                        options.http.host));
    std::set<std::string> names;
    for (const std::string& model : args.models) {
        const std::string name = name_and_folder(model).first;
        if (!names.insert(name).second)
            throw Usage(fmt::format("--model: two models are called {0}: --model OTHER={1} gives one another name",
                                    to_printable(name), to_printable(name_and_folder(model).second)));
    }
    if (args.models.empty()) args.models.push_back(args.adapter), args.adapter.clear();
    if (!args.adapter.empty() && args.models.size() > 1)
        throw Usage("--adapter is for one --model: name others with adapters by the folders of their runs");
    if (options.scheduler.parallel == 0) throw Usage("--parallel must be at least 1, got 0");
    const auto [weights, threads] = std::pair(args.quantize == "q8_0"    ? WeightType::q8_0
                                              : args.precision == "bf16" ? WeightType::bf16
                                                                         : WeightType::fp32,
                                              set_threads(args.threads));
    options.scheduler.threads = threads;
    keep_little_memory();
    serve::Api api(options);
    api.start();
    for (const std::string& argument : args.models) {
        const auto [name, folder] = name_and_folder(argument);
        check<BadInput>(formats::find_invalid_utf8(name) == std::string::npos, "--model {}: the name is not UTF-8",
                        to_printable(argument));
        serve::ServedModel model = serve::load_served_model(name, folder, weights, args.adapter);
        std::fprintf(stderr, "%s\n", described(model).c_str());
        api.add_model(std::move(model));
    }
    const std::atomic<int>& signal = catch_signals();
    api.ready();
    std::fprintf(stderr, "serving on %s, %s, %zu texts at once; Ctrl-C ends it\n", api.http().url().c_str(),
                 counted(threads, "thread").c_str(), options.scheduler.parallel);
    while (signal == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::fprintf(stderr, "%zu texts are being finished; a second signal ends them\n",
                 api.metrics().running() + api.metrics().waiting());
    api.stop();
    return 128 + signal;
}

}  // namespace

Action add_serve(CLI::App& app) {
    auto args = std::make_shared<ServeArguments>();
    serve::ApiOptions& options = args->api;
    serve::HttpOptions& http = options.http;
    CLI::Option* const model =
        app.add_option("--model", args->models,
                       "model folder, or the folder of a run; repeatable; NAME=DIR: under that name")
            ->required()
            ->take_all()
            ->expected(1)
            ->allow_extra_args(false);
    add_adapter_flag(app, args->adapter, *model);
    app.add_option("--host", http.host, "address to listen on; other machines reach 0.0.0.0")->capture_default_str();
    app.add_option("--port", args->port, "port to listen on; 0: any that is free")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    app.add_option("--api-key-file", args->key_file, "file with keys, one on a line: requests need one of them");
    app.add_flag("--insecure", http.insecure, "listen on other addresses than this machine's own without keys");
    auto* const precision = app.add_option("--precision", args->precision, "of the weights: fp32 or bf16")
                                ->check(refuse_other_than({"fp32", "bf16"}))
                                ->capture_default_str();
    app.add_option("--quantize", args->quantize, "weights in 8 bits, as llama.cpp: q8_0")
        ->check(refuse_other_than({"q8_0"}))
        ->excludes(precision);
    app.add_option("--threads", args->threads, "max OpenMP threads; 0: the physical cores")->capture_default_str();
    app.add_option("--parallel", options.scheduler.parallel, "texts that are written at once")->capture_default_str();
    app.add_option("--queue", options.scheduler.queue, "texts that wait for a place; more are refused")
        ->capture_default_str();
    app.add_option("--max-tokens", options.max_tokens, "tokens that a text may ask for")->capture_default_str();
    app.add_option("--max-body", http.max_body, "bytes of a request's body")->capture_default_str();
    app.add_option("--max-connections", http.max_connections, "open connections")->capture_default_str();
    app.add_option("--header-time", http.header_time, "seconds for a request's headers to come")
        ->check(CLI::Range(0.01, 1e6))
        ->capture_default_str();
    app.add_option("--idle-time", http.idle_time,
                   "seconds without a request, for a body to come, or without reading an answer")
        ->check(CLI::Range(0.01, 1e6))
        ->capture_default_str();
    app.add_option("--runs", options.runs, "folder of runs whose pages are shown, at /runs");
    return [args] { return serve_models(*args); };
}

}  // namespace inkling::cli
