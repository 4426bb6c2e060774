// inkling serve
#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "cli/arguments/access.h"
#include "cli/arguments/model_argument.h"
#include "cli/common.h"
#include "cli/log.h"
#include "cli/signals.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/utf8.h"
#include "web/api/api.h"
#include "web/live/page_routes.h"

namespace inkling::cli {
namespace {

struct ServeArguments {
    std::vector<std::string> models, adapters, allow_hosts, allow_origins;
    std::string key_file, runs;
    WeightFlags weights;
    std::size_t threads = 0, port = 8080;
    web::ApiOptions api;
};

// Threads come and go with connections. These settings return freed memory to the system instead of keeping it per
// thread, or as small blocks between which the heap grows (8 MB after 10,000 requests to a tiny model, 1 MB with them).
void keep_little_memory() {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MXFAST, 0);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

// Parses NAME=DIR, or DIR without a name.
web::NamedFolder parse_folder(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0 || formats::is_there(argument)) return {"", argument};
    const std::string name = argument.substr(0, equals);
    check<BadInput>(formats::find_invalid_utf8(name) == std::string::npos, "{}: the name is not UTF-8",
                    shown_name(argument));
    return {name, argument.substr(equals + 1)};
}

std::string described(const web::ServedModel& model) {
    return fmt::format("{}: {} layers, width {}, context {}, vocabulary {}{}", model.name,
                       model.inference->config().n_layer, model.inference->config().n_embd, model.context(),
                       model.tokenizer->vocab_size(), model.chat ? ", chat" : "");
}

// Gives each a unique name, except an adapter that becomes part of the model.
std::pair<std::vector<web::NamedFolder>, std::vector<web::NamedFolder>> models_and_adapters(ServeArguments args) {
    if (args.models.empty()) args.models.swap(args.adapters);  // adapters name their models
    std::vector<web::NamedFolder> models, adapters;
    std::set<std::string> names;
    const auto insert = [&](const char* flag, const web::NamedFolder& f) {
        check<Usage>(names.insert(f.name).second,
                     "{0}: two models are called {1}: {0} OTHER={2} gives one another name", flag, shown_name(f.name),
                     shown_name(f.path.string()));
    };
    for (const std::string& argument : args.models) {
        web::NamedFolder& model = models.emplace_back(parse_folder(argument));
        if (model.name.empty()) model.name = name_of_folder(model.path);
        insert("--model", model);
    }
    for (const std::string& argument : args.adapters) {
        const web::NamedFolder& adapter = adapters.emplace_back(parse_folder(argument));
        check<Usage>(args.adapters.size() == 1 || !adapter.name.empty(),
                     "--adapter: several adapters need names: --adapter NAME={}", shown_name(argument));
        if (!adapter.name.empty()) insert("--adapter", adapter);
    }
    check<Usage>(adapters.empty() || models.size() == 1,
                 "--adapter is for one --model: name others with adapters by the folders of their runs");
    return {models, adapters};
}

// Raises the limit of open files, usually 1,024, as far as the system allows.
void allow_files(std::size_t more) {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, more + 1024));
    setrlimit(RLIMIT_NOFILE, &files);
}

int serve_models(ServeArguments& args) {
    web::ApiOptions& options = args.api;
    options.http.port = static_cast<int>(args.port);
    for (const std::string& origin : args.allow_origins)
        options.http.allow_origins.push_back(parse_flag("--allow-origin", origin, web::parse_origin));
    read_access("--host", args.allow_hosts, args.key_file, options.http);
    const auto [models, adapters] = models_and_adapters(args);
    check<Usage>(options.scheduler.parallel > 0, "--parallel must be at least 1, got 0");
    options.scheduler.threads = set_threads(args.threads);
    keep_little_memory();
    allow_files(options.http.max_connections);
    web::Api api(options);
    web::add_playground(api.http(), args.runs);
    api.start();
    for (const web::NamedFolder& folder : models)
        for (web::ServedModel& model :
             web::load_served_models(folder, args.weights.type_for(folder.path), adapters, args.weights.cache_type())) {
            spdlog::info("{}", described(model));
            warn_of_tokenizer(*model.tokenizer);
            api.add_model(std::move(model));
        }
    const std::atomic<int>& signal = catch_signals();
    api.ready();
    spdlog::info("serving on {}, {}, {} texts at once; Ctrl-C ends it", api.http().places(),
                 counted(options.scheduler.threads, "thread"), options.scheduler.parallel);
    while (signal == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    spdlog::info("{} texts are being finished, for 3 seconds; a second signal ends them",
                 api.metrics().running() + api.metrics().waiting());
    end_within(5);
    api.stop();
    return 0;
}

}  // namespace

Action add_serve(CLI::App& app) {
    auto args = std::make_shared<ServeArguments>();
    web::ApiOptions& options = args->api;
    web::HttpOptions& http = options.http;
    CLI::Option* const model =
        app.add_option("--model", args->models,
                       "folder of a model or run, or GGUF file; repeatable; NAME=PATH gives its name")
            ->required()
            ->type_name("MODEL");
    CLI::Option* const adapter = app.add_option_function<std::vector<std::string>>(
        "--adapter",
        [args, model](const std::vector<std::string>& folders) {
            args->adapters = folders;
            model->required(false);
        },
        "low-rank adapter of a single --model: the folder of a run or of PEFT; repeatable as NAME=DIR, to serve each "
        "under its name beside the model");
    offer(repeatable(*model), {kFiles});
    offer(repeatable(*adapter), {kFolders});
    app.add_option("--host", http.host, "address to listen on; 0.0.0.0: also for other machines")->type_name("ADDRESS");
    app.add_option("--port", args->port, "port to listen on; 0: any free one")->check(CLI::Range(0, 65535));
    offer(*app.add_option("--api-key-file", args->key_file, "require one of the keys in this file, one per line"),
          {kFiles});
    repeatable(*app.add_option("--allow-host", args->allow_hosts,
                               "without keys: accept requests to another name of this machine; repeatable")
                    ->type_name("NAME"));
    repeatable(*app.add_option("--allow-origin", args->allow_origins,
                               "site whose pages may use the server, such as https://chat.example; repeatable")
                    ->type_name("URL"));
    app.add_flag("--insecure", http.insecure, "let other machines connect without a key");
    add_weight_flags(app, args->weights);
    add_cache_flag(app, args->weights);
    app.add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    app.add_option("--parallel", options.scheduler.parallel, "number of texts to write at once");
    app.add_option("--queue", options.scheduler.queue, "number of texts that may wait; more are refused");
    const CLI::Range at_least_1(std::size_t{1}, std::size_t{1} << 40), seconds(0.01, 1e6);
    app.add_option("--max-tokens", options.max_tokens, "maximum number of tokens of a text")->check(at_least_1);
    app.add_option("--max-body", http.max_body, "maximum size of a request's body, in bytes")->check(at_least_1);
    app.add_option("--max-connections", http.max_connections, "maximum number of open connections")->check(at_least_1);
    app.add_option("--header-time", http.header_time, "seconds in which a request's headers must arrive")
        ->check(seconds);
    app.add_option("--idle-time", http.idle_time, "seconds after which an idle connection is closed")->check(seconds);
    offer(*app.add_option("--runs", args->runs, "show the runs in this folder at /runs"), {kFolders});
    return [args] { return serve_models(*args); };
}

}  // namespace inkling::cli
