#include "web/live/live_run.h"

#include <chrono>

#include "engine/base/clock.h"
#include "formats/utf8.h"
#include "train/callbacks.h"
#include "train/loop.h"
#include "web/live/page_routes.h"
#include "web/report/attention_page.h"
#include "web/report/run_data.h"

namespace inkling::web {
namespace {

constexpr std::size_t kMostWaiting = 8, kMaxBody = 64 << 10;  // prompts of small models are short

HttpOptions with_limits(HttpOptions http) {
    http.max_body = kMaxBody;
    return http;
}

// The beginning of the validation part: whole characters of as many tokens as a small picture shows.
std::string beginning_of(const train::TrainingLoop& loop, const data::Tokenizer& tokenizer) {
    constexpr std::size_t kTokens = 24;
    const data::TokenView text = loop.text().val.empty() ? loop.text().train : loop.text().val;
    std::vector<std::int32_t> ids(std::min({kTokens, text.size(), loop.options().block_size}));
    text.first(ids.size()).copy_to(ids.data());
    const std::string prompt = tokenizer.decode(ids);
    return prompt.substr(0, formats::find_invalid_utf8(prompt));
}

HttpError ended() { return {503, "the run has ended", "", "ended"}; }

}  // namespace

LiveRun::LiveRun(HttpOptions http) : server_(with_limits(http)), watch_only_(!is_loopback(http.host)) {}

LiveRun::~LiveRun() {
    over_ = true;
    refuse_all();
    server_.stop(1);
}

void LiveRun::start(const std::filesystem::path& run, const data::Tokenizer& tokenizer, std::function<void()> stop) {
    run_ = run;
    tokenizer_ = &tokenizer;
    stop_ = std::move(stop);
    add_assets(server_);
    Json live = {{"run", "/api/run"}, {"seconds", 1}};
    if (!watch_only_) live["controls"] = true, live["heads"] = "/api/heads";
    const Json page = run_page({}, nullptr, live);
    const auto send = [page, name = run.filename().string()](const HttpRequest&) {
        return page_response(kRunPage, name, page);
    };
    server_.route("GET", "/", send, HttpAccess::open);  // asks for the key, if there are keys
    server_.route("GET", "/api/run", [this](const HttpRequest& request) { return data(request); });
    if (!watch_only_) add_controls();
    server_.start();
}

void LiveRun::add_controls() {
    server_.route("POST", "/api/stop", [this](const HttpRequest&) {
        stop_();
        return json_response({{"stopping", true}});
    });
    server_.route("POST", "/api/sample", [this](const HttpRequest& request) {
        const std::string prompt = prompt_of(request);
        return json_response(wait_for(request, samples_, [this, prompt](train::TrainingLoop& loop) -> Json {
            const train::Sample sample = train::write_samples(loop, *tokenizer_, {prompt}).front();
            return {{"step", loop.state().step}, {"prompt", sample.prompt}, {"text", sample.text}};
        }));
    });
    server_.route("POST", "/api/heads", [this](const HttpRequest& request) {
        const std::string asked = prompt_of(request);
        return json_response(wait_for(request, heads_, [this, asked](train::TrainingLoop& loop) -> Json {
            const std::string prompt = asked.empty() ? beginning_of(loop, *tokenizer_) : asked;
            const train::Averaged weights(loop.step().average);
            loop.model().eval();
            const auto map = attention_map("", loop.model(), *tokenizer_, prompt);
            loop.model().train();
            return {{"step", loop.state().step}, {"prompt", prompt}, {"heads", attention_data(map)}};
        }));
    });
}

LiveRun::Json LiveRun::wait_for(const HttpRequest& request, Quota& quota,
                                std::function<Json(train::TrainingLoop&)> make) {
    std::future<Json> made;
    std::size_t number;
    {
        const std::lock_guard lock(mutex_);
        if (over_) throw ended();
        if (pending_.size() >= kMostWaiting) throw HttpError(429, "too many requests are waiting for a step to end");
        number = ++requests_;
        pending_.push_back({number, std::move(make), &quota, {}});
        made = pending_.back().made.get_future();
        waiting_ = pending_.size();
    }
    while (made.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready) {
        if (!request.hung_up || !request.hung_up()) continue;
        drop(number);
        throw client_gone();
    }
    return made.get();
}

void LiveRun::drop(std::size_t number) {
    const std::lock_guard lock(mutex_);
    std::erase_if(pending_, [&](const Pending& w) { return w.number == number; });
    waiting_ = pending_.size();
}

// Serves at most one request per step. After one that took t seconds, the next of its kind waits until t / fraction
// after its start, so that training keeps the rest of the time however many clients ask.
void LiveRun::step_done(train::TrainingLoop& loop) {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    const double start = seconds_now();
    Pending next;
    {
        const std::lock_guard lock(mutex_);
        const auto found =
            std::find_if(pending_.begin(), pending_.end(), [&](const Pending& w) { return w.quota->free_at <= start; });
        if (found == pending_.end()) return;
        next = std::move(*found);
        pending_.erase(found);
        waiting_ = pending_.size();
    }
    try {
        next.made.set_value(next.make(loop));
    } catch (...) {
        loop.model().train();
        next.made.set_exception(std::current_exception());
    }
    next.quota->free_at = start + (seconds_now() - start) / next.quota->fraction;
}

void LiveRun::stopped(train::TrainingLoop&) {
    over_ = true;
    refuse_all();
}

void LiveRun::refuse_all() {
    const std::lock_guard lock(mutex_);
    for (Pending& w : pending_) w.made.set_exception(std::make_exception_ptr(ended()));
    pending_.clear();
    waiting_ = 0;
}

HttpResponse LiveRun::data(const HttpRequest& request) {
    bool finished;
    {
        const std::lock_guard lock(mutex_);
        asked_ = seconds_now();
        finished = finished_;
    }
    Json data;
    try {
        data = run_data(run_, {.cursor = request.parameter("cursor")});
        if (finished) data.update(run_facts(run_));
    } catch (const BadInput& e) {  // the first step is not written yet
        throw HttpError(503, e.what());
    }
    data["ended"] = finished;
    HttpResponse response = json_response(data);
    if (finished) {
        const std::lock_guard lock(mutex_);
        showed_end_ = true;
        end_shown_.notify_all();
    }
    return response;
}

void LiveRun::finish() {
    std::unique_lock lock(mutex_);
    finished_ = true;
    if (seconds_now() - asked_ > 10) return;  // no page is open
    end_shown_.wait_for(lock, std::chrono::seconds(3), [&] { return showed_end_; });
}

}  // namespace inkling::web
