// A run that trains while clients request its page: no request ends it, delays it or changes it.
#include "web/live/live_run.h"

#include <future>

#include "engine/base/clock.h"
#include "engine/process/threads.h"
#include "tests/support/http_client.h"
#include "tests/train/run.h"

namespace {

train::TrainOptions many_steps(std::size_t steps) {
    train::TrainOptions o = small_options();
    o.max_iters = o.lr_decay_iters = steps;
    o.dropout = 0.1, o.ema = 0.99;  // which samples and heads turn off, and use
    return o;
}

int port_of(const web::LiveRun& live) { return std::stoi(live.url().substr(live.url().rfind(':') + 1)); }

// Measures the seconds that training spends on requests to callbacks.
struct Timed : train::Callback {
    explicit Timed(web::LiveRun& of) : live(of) {}
    void step_done(train::TrainingLoop& loop) override {
        const double start = seconds_now();
        live.step_done(loop);
        spent += seconds_now() - start;
    }
    void stopped(train::TrainingLoop& loop) override { live.stopped(loop); }
    web::LiveRun& live;
    double spent = 0;
};

struct Live {
    ScratchFolder folder;
    Run run;
    web::LiveRun live{{.port = 0}};
    std::atomic<bool> stop = false;
    explicit Live(std::size_t steps) : run(many_steps(steps)) {
        set_threads(1);
        live.start(folder.path(""), run.tokenizer, [this] { stop = true; });
    }
    int port() const { return port_of(live); }
    void train(train::Callback& callback) {
        set_threads(1);
        run.loop.run({&callback}, [this] { return stop.load(); });
    }
};

std::string nested(const std::string& begin, const std::string& inner, const std::string& end, std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += begin;
    text += inner;
    for (std::size_t i = 0; i < n; ++i) text += end;
    return text;
}

}  // namespace

TEST_CASE("live run: fuzzed requests neither stop training nor change its bits", "[serve]") {
    std::vector<std::string> bodies = {"{\"prompt\": " + nested("[", "", "]", 20'000) + "}",
                                       "{\"prompt\": " + nested("[", "", "]", 500'000) + "}",
                                       nested("{\"a\": ", "1", "}", 10'000),
                                       std::string(60'000, '['),
                                       "{\"prompt\": \"" + std::string(60'000, 'a') + "\"}",
                                       R"({"prompt": "abc"})",
                                       R"({"prompt": "\u00e9"})"};
    for (const auto& file : std::filesystem::recursive_directory_iterator(tests_path("fuzz/corpus")))
        if (file.is_regular_file() && file.file_size() < 60'000) bodies.push_back(formats::read_file(file.path()));
    REQUIRE(bodies.size() > 50);
    Live live(1'000'000);
    std::thread training([&] { live.train(live.live); });
    std::map<int, int> statuses;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        ++statuses[ask(live.port(), "POST", "/api/sample", bodies[i]).status];
        if (i >= 7 && i % 8 != 0) continue;  // those that are answered take 200 times as long
        ++statuses[ask(live.port(), "POST", "/api/heads", bodies[i]).status];
    }
    for (const char* cursor : {"x", "1.2.3.4.5", "99999999999999999999.1.1.1.1", "%00", "-1.-1.-1.-1.-1"})
        ++statuses[get(live.port(), std::string("/api/run?cursor=") + cursor).status];
    CHECK(get(live.port(), "/").status == 200);
    CHECK(post(live.port(), "/api/sample", {{"prompt", "abc"}}).json()["prompt"] == "abc");
    CHECK(post(live.port(), "/api/heads", {{"prompt", "abc"}}).json()["heads"]["heads"] == 2);
    CHECK(post(live.port(), "/api/stop", json::object()).status == 200);
    training.join();
    INFO(json(statuses).dump());
    CHECK_ALL(statuses[200] > 2, statuses[400] > 50, statuses[413] == 4, statuses[0] + statuses[500] == 0);
    Run alone(many_steps(1'000'000));
    while (alone.state().step < live.run.state().step) alone.step();
    CHECK(same_bits(alone.weights(), live.run.weights()));
}

TEST_CASE("live run: training goes first, however many ask", "[serve]") {
    Live live(100'000'000);
    Timed timed(live.live);
    double elapsed = 0;
    std::thread training([&] {
        const double start = seconds_now();
        live.train(timed);
        elapsed = seconds_now() - start;
    });
    std::atomic<int> answered = 0;
    const double until = seconds_now() + 1;
    std::vector<std::future<void>> clients;
    for (int i = 0; i < 8; ++i)
        clients.push_back(std::async(std::launch::async, [&] {
            while (seconds_now() < until)
                answered += post(live.port(), "/api/sample", {{"prompt", "abc"}}).status == 200;
        }));
    for (auto& client : clients) client.get();
    live.stop = true;
    training.join();
    CHECK(answered > 0);
    INFO(timed.spent << " of " << elapsed << " s");
    CHECK(timed.spent < 0.25 * elapsed);  // a tenth, and what began last
}
