// inkling report
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/output_file.h"
#include "cli/arguments/prompt.h"
#include "cli/common.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/unknown_flag.h"
#include "cli/usage/wrong_usage.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "web/pictures/curve_picture.h"
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
    CLI::Option* prompt_option = nullptr;
};

std::string format_of(const std::string& out) {
    std::string ending = std::filesystem::path(out).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char* known : {".html", ".htm", ".svg", ".png"})
        if (ending == known) return ending == ".htm" ? "html" : ending.substr(1);
    throw Usage(fmt::format("--out {}: FILE.html, FILE.svg or FILE.png is required", out));
}

// The heads of a run's best model; null without a model or a prompt.
Json heads_of(const RunReportArguments& args, const Json& run) {
    if (!run["model"].is_object()) return nullptr;
    const auto loaded = load_current(run["folder"].get<std::string>());
    take_unknown(*loaded.tokenizer, false);
    const std::size_t context = loaded.model->config.block_size;
    const std::string prompt = args.prompt.empty() ? web::usual_prompt(run, *loaded.tokenizer, context) : args.prompt;
    if (prompt.empty()) return nullptr;
    return formats::named("--prompt", [&] {
        return web::attention_data(
            web::attention_map(run["name"].get<std::string>(), *loaded.model, *loaded.tokenizer, prompt));
    });
}

int write_report(const RunReportArguments& args) {
    const std::string format = format_of(args.out.path);
    if (args.prompt_option->count() > 0 && format != "html")
        throw Usage(fmt::format("--prompt is for FILE.html, got --out {}", args.out.path));
    args.out.check_format(format);
    check_utf8({args.prompt, "--prompt"});
    std::vector<Json> runs;
    for (const std::string& folder : args.runs) {
        runs.push_back(web::run_data(folder));
        Json& run = runs.back();
        check<BadInput>(!run["metrics"]["step"].empty(),
                        "{}: metrics.jsonl holds no step yet: there is nothing to report", folder);
        for (const Json& note : run["notes"]) say("warning: " + to_printable(note.get<std::string>()));
        for (const Json& other : runs)
            if (&other != &run && other["name"] == run["name"]) run["name"] = folder;
    }
    web::sort_best_first(runs);
    std::string content;
    if (format == "html") {
        const std::string title =
            runs.size() == 1 ? runs[0]["name"].get<std::string>() : fmt::format("{} runs", runs.size());
        const Json data = {{"runs", runs},
                           {"defaults", web::default_settings()},
                           {"heads", heads_of(args, runs[0])},
                           {"live", nullptr}};
        content = web::page_file(web::kRunPage, title, data);
    } else {
        const auto surface = format == "svg" ? web::svg_surface("Loss of a training run") : web::png_surface();
        web::draw_curves(*surface, runs);
        content = surface->finish();
    }
    formats::write_file_atomic(args.out.path, content);
    say(fmt::format("wrote {}: {}", args.out.path, counted(runs.size(), "run")));
    return 0;
}

}  // namespace

Action add_report(CLI::App& app) {
    auto args = std::make_shared<RunReportArguments>();
    offer(*app.add_option("run", args->runs, "folders of runs; several are compared, the best one first")->required(),
          {kFolders});
    add_output_flags(app, args->out, "-o,--out", "file to write: FILE.html; FILE.svg or FILE.png: only the loss curves")
        ->required();
    args->prompt_option = app.add_option(
        "-p,--prompt", args->prompt, "text whose attention weights to show; default: the beginning of the last sample");
    return [args] { return write_report(*args); };
}

}  // namespace inkling::cli
