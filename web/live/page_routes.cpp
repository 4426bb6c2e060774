#include "web/live/page_routes.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "engine/process/threads.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/utf8.h"
#include "models/files/folder.h"
#include "models/parameters.h"
#include "train/run/run_folder.h"
#include "web/api/request_parts.h"
#include "web/report/attention_page.h"
#include "web/report/run_data.h"

namespace inkling::web {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kRuns = "/runs/", kRunData = "/api/runs/", kHeads = "/heads";

HttpError not_found(const std::string& what) { return {404, what, "", "not_found"}; }

std::vector<std::string> runs_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const std::string& name : formats::names_in(folder)) {
        try {
            if (formats::find_invalid_utf8(name) == std::string::npos && train::holds_run(folder / name))
                names.push_back(name);
        } catch (const std::exception&) {  // no permission, or a link to itself
        }
    }
    return names;
}

// The run of this name. Only the names of existing runs are accepted, so no name leads out of the folder.
fs::path run_at(const fs::path& folder, const std::string& name) {
    const auto names = runs_in(folder);
    if (std::find(names.begin(), names.end(), name) == names.end()) throw not_found("there is no run " + name);
    return folder / name;
}

Json list_of_runs(const fs::path& folder) {
    constexpr std::size_t kPoints = 500;  // per run
    std::vector<Json> runs;
    for (const std::string& name : runs_in(folder)) {
        try {
            runs.push_back(run_data(folder / name, {.cursor = "", .max_points = kPoints, .tokenizer = false}));
            runs.back().erase("samples");
        } catch (const std::exception&) {  // it was removed meanwhile, or part of it is unreadable
        }
    }
    sort_best_first(runs);
    return {{"runs", runs}};
}

// The heads of a run's best checkpoint: {"prompt", "heads"}, for show_heads(). "" chooses the prompt of its samples;
// heads is null without a prompt or a checkpoint.
Json heads_of(const fs::path& run, const std::string& prompt) {
    constexpr std::uint64_t kLargest = 500'000'000;  // parameters; the model is loaded only for this
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    if (train::find_checkpoints(run).empty()) return {{"prompt", ""}, {"heads", nullptr}};
    const fs::path folder = models::find_model(run);
    const std::uint64_t parameters = models::parameter_count(models::load_config(folder));
    if (parameters > kLargest)
        throw HttpError(400, "the model is too large to show its heads here: use inkling attention");
    return run_heads(run_data(run), models::load_model(folder), prompt);
}

}  // namespace

HttpResponse page_response(const Page& page, const std::string& title, const Json& data) {
    return {.type = "text/html; charset=utf-8", .body = page_served(page, title, data)};
}

std::string prompt_of(const HttpRequest& request) {
    return Fields(parse_body(request.body)).text("prompt").value_or("");
}

void add_assets(HttpServer& server) {
    const auto send = [](const HttpRequest& request) {
        const auto found = asset(request.path.substr(kAssets.size()));
        if (!found) throw not_found("there is no " + request.path);
        return HttpResponse{.type = found->type, .body = found->text};
    };
    server.route("GET", std::string(kAssets) + "*", send, HttpAccess::open);
}

void add_playground(HttpServer& server, const std::string& runs) {
    const auto add_page = [&](const std::string& path, auto make) {
        server.route("GET", path, make, HttpAccess::open);
    };
    add_assets(server);
    add_page("/", [with = !runs.empty()](const HttpRequest&) {
        return page_response(kPlaygroundPage, "Inkling", {{"runs", with}});
    });
    if (runs.empty()) return;
    check<BadInput>(formats::is_folder(runs), "--runs {}: no such folder", runs);
    add_page("/runs", [](const HttpRequest&) {
        return page_response(kRunPage, "Runs", run_page({}, nullptr, {{"list", "/api/runs"}, {"seconds", 10}}));
    });
    add_page(std::string(kRuns) + "*", [](const HttpRequest& request) {
        const std::string name = request.path.substr(kRuns.size()), data = std::string(kRunData) + name;
        const Json live = {{"name", name}, {"run", data}, {"heads", data + std::string(kHeads)}, {"seconds", 2}};
        return page_response(kRunPage, name, run_page({}, nullptr, live));
    });
    server.route("GET", "/api/runs", [runs](const HttpRequest&) { return json_response(list_of_runs(runs)); });
    server.route("GET", std::string(kRunData) + "*", [runs](const HttpRequest& request) {
        const fs::path run = run_at(runs, request.path.substr(kRunData.size()));
        return json_response(run_data(run, {.cursor = request.parameter("cursor")}));
    });
    server.route("POST", std::string(kRunData) + "*", [runs](const HttpRequest& request) {
        if (!request.path.ends_with(kHeads)) throw not_found("nothing is at " + request.path);
        const std::string name =
            request.path.substr(kRunData.size(), request.path.size() - kRunData.size() - kHeads.size());
        set_threads(1);  // for this thread: text generation needs the processors
        return json_response(heads_of(run_at(runs, name), prompt_of(request)));
    });
}

}  // namespace inkling::web
