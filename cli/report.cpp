// inkling report
#include <nlohmann/json.hpp>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/output_file.h"
#include "cli/arguments/prompt.h"
#include "cli/common.h"
#include "cli/log.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "formats/ascii.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "web/report/attention_page.h"
#include "web/report/pages.h"
#include "web/report/run_data.h"

namespace inkling::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunReportArguments {
    std::vector<std::string> runs;
    OutputFile out;
    std::string prompt;
};

// The heads of a run's best model; null without a model or a prompt.
Json heads_of(const RunReportArguments& args, const Json& run) {
    if (!run["model"].is_object()) return nullptr;
    const auto loaded = load_current(run["folder"].get<std::string>());
    return formats::named("--prompt", [&] { return web::run_heads(run, loaded, args.prompt)["heads"]; });
}

int write_report(const RunReportArguments& args) {
    const std::string ending = formats::lower(std::filesystem::path(args.out.path).extension().string());
    check<Usage>(ending == ".html" || ending == ".htm", "--out {}: a report is a page: FILE.html is required",
                 args.out.path);
    args.out.check_format("html");
    check_utf8({args.prompt, "--prompt"});
    std::vector<Json> runs;
    for (const std::string& folder : args.runs) {
        runs.push_back(web::run_data(folder));
        Json& run = runs.back();
        check<BadInput>(!run["metrics"]["step"].empty(), "{}: metrics.jsonl holds no step yet", folder);
        for (const Json& note : run["notes"]) spdlog::warn("{}", note.get<std::string>());
        for (const Json& other : runs)
            if (&other != &run && other["name"] == run["name"]) run["name"] = folder;
    }
    web::sort_best_first(runs);
    const std::string title =
        runs.size() == 1 ? runs[0]["name"].get<std::string>() : fmt::format("{} runs", runs.size());
    const Json data = web::run_page(runs, heads_of(args, runs[0]));
    formats::write_file_atomic(args.out.path, web::page_file(web::kRunPage, title, data));
    spdlog::info("wrote {}: {}", args.out.path, counted(runs.size(), "run"));
    return 0;
}

}  // namespace

Action add_report(CLI::App& app) {
    auto args = std::make_shared<RunReportArguments>();
    offer(*app.add_option("run", args->runs, "folders of runs; several are compared, the best first")->required(),
          {kFolders});
    add_output_flags(app, args->out, "-o,--out", "page to write, such as report.html")->required();
    app.add_option("-p,--prompt", args->prompt,
                   "text for the attention weights; default: the beginning of the last sample");
    return [args] { return write_report(*args); };
}

}  // namespace inkling::cli
