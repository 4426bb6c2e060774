// The live page of a training run: inkling train --serve. The page reads the files of the run's folder, at no cost to
// training. The training thread makes samples and heads between two steps, from the current weights, and the result of
// the run is the same to the last bit.
//   LiveRun live({.port = 8080});                             // binds
//   live.start("runs/mine", tokenizer, [] { ask_to_stop(); });
//   loop.run({&live});
//   live.finish();                                            // an open page shows how the run ended
// On a non-loopback address, clients can only watch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "train/callback.h"
#include "web/http/http.h"

namespace inkling::web {

class LiveRun : public train::Callback {
  public:
    explicit LiveRun(HttpOptions http);  // throws Error
    ~LiveRun() override;

    void start(const std::filesystem::path& run, const data::Tokenizer& tokenizer, std::function<void()> stop);
    void finish();

    std::string url() const { return server_.url(); }
    std::string places() const { return server_.places(); }

    void step_done(train::TrainingLoop& loop) override;
    void stopped(train::TrainingLoop& loop) override;

  private:
    using Json = nlohmann::ordered_json;
    // Limits the share of training time that one kind of request may take.
    struct Quota {
        double fraction;
        double free_at = 0;  // time in seconds when the next one may run
    };
    struct Pending {
        std::size_t number;
        std::function<Json(train::TrainingLoop&)> make;
        Quota* quota;
        std::promise<Json> made;
    };

    void add_controls();
    // Asks the training thread for a result; throws HttpError 503 if the run ends first.
    Json wait_for(const HttpRequest& request, Quota& quota, std::function<Json(train::TrainingLoop&)> make);
    void drop(std::size_t number);  // for a client that disconnected
    void refuse_all();
    HttpResponse data(const HttpRequest& request);

    HttpServer server_;
    bool watch_only_;
    std::filesystem::path run_;
    const data::Tokenizer* tokenizer_ = nullptr;
    std::function<void()> stop_;

    std::mutex mutex_;
    std::condition_variable end_shown_;
    std::deque<Pending> pending_;
    std::atomic<std::size_t> waiting_ = 0;  // size of pending_; the only thing a step checks
    std::atomic<bool> over_ = false;        // the loop has ended
    std::size_t requests_ = 0;
    Quota samples_{.fraction = 0.1}, heads_{.fraction = 0.005};  // pages ask for heads without a click
    bool finished_ = false, showed_end_ = false;                 // all files are written; a page has seen it
    double asked_ = -1e9;                                        // time of the last request for the run's data
};

}  // namespace inkling::web
