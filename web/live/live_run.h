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
#include "train/callback.h"
#include "web/http/http.h"

namespace inkling::web {

class LiveRun : public train::Callback {
  public:
    // [HOST:]PORT, and other names of the host that requests may use; throws Error.
    explicit LiveRun(const std::string& address, const std::vector<std::string>& allow_hosts = {});
    ~LiveRun() override;

    void start(const std::filesystem::path& run, const data::Tokenizer& tokenizer, std::function<void()> stop);
    void finish();

    std::string url() const { return server_.url(); }
    bool watch_only() const { return watch_only_; }

    void step_done(train::TrainingLoop& loop) override;
    void stopped(train::TrainingLoop& loop) override;

  private:
    using Json = nlohmann::ordered_json;
    // The part of the time that training gives away for one kind of request.
    struct Share {
        double part;
        double free_at = 0;  // when the next may be answered, in seconds
    };
    struct Wanted {
        std::size_t number;
        std::function<Json(train::TrainingLoop&)> make;
        Share* share;
        std::promise<Json> made;
    };

    void add_controls();
    // What the training thread makes for a request, or HttpError 503 when the run ends before.
    Json wait_for(const HttpRequest& request, Share& share, std::function<Json(train::TrainingLoop&)> make);
    void drop(std::size_t number);  // a request whose client has gone
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
    std::atomic<std::size_t> waiting_ = 0;  // in wanted_: all that a step looks at
    std::atomic<bool> over_ = false;        // the loop has ended
    std::size_t asked_in_all_ = 0;
    Share samples_{.part = 0.1}, heads_{.part = 0.005};  // a page asks for heads by itself
    bool finished_ = false, told_end_ = false;           // all has been written; a page knows
    double asked_ = -1e9;                                // when a page asked for the run, in seconds
};

}  // namespace inkling::web
