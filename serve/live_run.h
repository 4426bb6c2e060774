// The page of a run while it trains: inkling train --serve. The page reads what the run writes into its folder, so that
// training has nothing to do for it. Samples and heads are made by the thread that trains, between two steps, of the
// weights as they are then: the result of the run is the same to the last bit.
//   LiveRun live("8080");                                     // binds
//   live.start("runs/mine", tokenizer, [] { ask_to_stop(); });
//   loop.run({&live});
//   live.finish();                                            // a page that is open sees how it ended
// Anybody who reaches an address other than loopback can watch, and nothing else.
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
#include "serve/http.h"
#include "train/observer.h"

namespace inkling::serve {

class LiveRun : public train::Observer {
  public:
    explicit LiveRun(const std::string& address);  // [HOST:]PORT; throws Error
    ~LiveRun() override;

    void start(const std::filesystem::path& run, const data::Tokenizer& tokenizer, std::function<void()> stop);
    void finish();

    std::string url() const { return server_.url(); }
    bool watch_only() const { return watch_only_; }

    void step_done(train::TrainingLoop& loop) override;
    void stopped(train::TrainingLoop& loop) override;

  private:
    using Json = nlohmann::ordered_json;
    struct Wanted {
        std::function<Json(train::TrainingLoop&)> make;
        bool may_wait;  // until it costs no more than a small part of the time
        std::promise<Json> made;
    };

    void add_controls();
    // What the training thread makes for a request, or HttpError 503 when the run ends before.
    Json wait_for(const HttpRequest& request, bool may_wait, std::function<Json(train::TrainingLoop&)> make);
    void refuse_all();
    HttpResponse data(const HttpRequest& request);

    HttpServer server_;
    bool watch_only_;
    std::filesystem::path run_;
    const data::Tokenizer* tokenizer_ = nullptr;
    std::function<void()> stop_;

    std::mutex mutex_;
    std::condition_variable told_;
    std::deque<Wanted> wanted_;
    std::atomic<std::size_t> waiting_ = 0;                      // in wanted_: all that a step looks at
    std::atomic<bool> over_ = false;                            // the loop has ended
    bool finished_ = false, told_end_ = false;                  // all has been written; a page knows
    double started_ = 0, spent_ = 0, last_ = 0, asked_ = -1e9;  // seconds; spent on what may wait, in all and the last
};

}  // namespace inkling::serve
