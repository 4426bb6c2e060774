#include "web/api/api.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/process/threads.h"
#include "web/api/completions.h"
#include "web/api/tokens.h"

namespace inkling::web {
namespace {

using nlohmann::ordered_json;

HttpOptions observed(HttpOptions options, Metrics& metrics) {
    options.observe = [&metrics](const std::string& path, int status, double seconds) {
        metrics.request_done(path, status, seconds);
    };
    return options;
}

ordered_json model_json(const ServedModel& model) {
    return {{"id", model.name},
            {"object", "model"},
            {"created", model.created},
            {"owned_by", "inkling"},
            {"max_model_len", model.context()},
            {"chat", model.chat.has_value()}};
}

}  // namespace

Api::Api(ApiOptions options)
    : options_(std::move(options)),
      scheduler_(std::make_unique<Scheduler>(options_.scheduler, metrics_)),
      http_(observed(options_.http, metrics_)) {
    add_routes();
}

Api::~Api() { stop(); }
void Api::start() { http_.start(); }
void Api::ready() { ready_ = true; }
void Api::stop(double grace) {
    http_.stop(grace, [this] { scheduler_->stop(); });
}

void Api::add_model(ServedModel model) {
    check(!ready_, "serve: models come before ready()");
    check(std::none_of(models_.begin(), models_.end(), [&](const Model& m) { return m->name == model.name; }),
          "--model: two models are called {}: give one another name, as --model other={}", model.name, model.name);
    models_.push_back(std::make_shared<const ServedModel>(std::move(model)));
}

void Api::check_ready() const {
    if (!ready_) throw HttpError(503, "the models are being loaded", "", "loading");
}

Api::Model Api::find(const std::string& name) const {
    check_ready();
    const auto found =
        std::find_if(models_.begin(), models_.end(), [&](const Model& m) { return name.empty() || m->name == name; });
    if (found == models_.end()) {
        std::vector<std::string> names;
        for (const Model& m : models_) names.push_back(m->name);
        throw HttpError(404, fmt::format("there is no model {}: this server has {}", name, fmt::join(names, ", ")),
                        "model", "model_not_found");
    }
    return *found;
}

RequestLimits Api::limits() const {
    return {.max_tokens = options_.max_tokens, .max_texts = options_.scheduler.parallel + options_.scheduler.queue};
}

void Api::add_routes() {
    const auto post = [this](const std::string& path, const HttpHandler& handler) {
        http_.route("POST", path, [handler](const HttpRequest& request) {
            set_threads(1);  // for this thread: the scheduler's thread uses the processors
            return handler(request);
        });
    };
    post("/v1/completions", [this](const HttpRequest& request) {
        check_ready();
        const CompletionRequest asked = parse_completion(request.body, limits());
        return answer_completion(asked, find(asked.model), *scheduler_, request.hung_up);
    });
    post("/v1/chat/completions", [this](const HttpRequest& request) {
        check_ready();
        const ChatRequest asked = parse_chat(request.body, limits());
        return answer_chat(asked, find(asked.model), *scheduler_, request.hung_up);
    });
    for (const auto& [path, convert] : {std::pair("/tokenize", &tokenize), std::pair("/detokenize", &detokenize)})
        post(path, [this, convert = convert](const HttpRequest& request) {
            const nlohmann::json body = parse_body(request.body);
            const Fields fields(body);
            return json_response(convert(fields, *find(fields.text("model").value_or(""))->tokenizer));
        });
    http_.route("GET", "/v1/models", [this](const HttpRequest&) {
        check_ready();
        ordered_json list = ordered_json::array();
        for (const Model& model : models_) list.push_back(model_json(*model));
        return json_response({{"object", "list"}, {"data", list}});
    });
    http_.route("GET", "/v1/models/*", [this](const HttpRequest& request) {
        return json_response(model_json(*find(request.path.substr(std::string("/v1/models/").size()))));
    });
    http_.route(
        "GET", "/health",
        [this](const HttpRequest&) {
            check_ready();
            return json_response({{"status", "ok"}});
        },
        HttpAccess::open);
    http_.route("GET", "/metrics", [this](const HttpRequest&) {
        return HttpResponse{.type = "text/plain; version=0.0.4; charset=utf-8",
                            .body = metrics_.text(http_.connections())};
    });
}

}  // namespace inkling::web
