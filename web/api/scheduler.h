// Writes the texts of all requests on one thread, as one batch for each model. Texts join and leave between two tokens;
// what they say does not depend on what runs beside them (generate/sequence.h).
//   Scheduler scheduler({.parallel = 16, .queue = 256, .threads = 2});
//   scheduler.add(texts);                   // of one request; throws HttpError 429 where the queue has no room
//   texts->wait();                          // text_stream.h
#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "web/api/metrics.h"
#include "web/api/text_stream.h"

namespace inkling::web {

struct SchedulerOptions {
    std::size_t parallel = 16;  // texts that are written at once
    std::size_t queue = 256;    // texts that wait for a place
    std::size_t threads = 1;    // of OpenMP
};

class Scheduler {
  public:
    Scheduler(SchedulerOptions options, Metrics& metrics);
    ~Scheduler();
    void stop();  // what is not finished fails, before its next token
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    void add(const std::shared_ptr<TextStream>& texts);
    const SchedulerOptions& options() const { return options_; }

  private:
    using Job = std::shared_ptr<TextStream::Job>;  // keeps its stream
    using Jobs = std::vector<Job>;
    void run();
    bool take_next();       // waits where there is nothing to do; false: the end
    void drop_abandoned();  // jobs whose clients have gone
    void read_prompt();     // of one job, so that the others need not wait for many
    void step();            // a token for each text
    static void step_alone(TextStream::Job& job, const void* inference);

    const SchedulerOptions options_;
    Metrics& metrics_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    bool stopping_ = false;
    Job next_;  // has places, and its prompt is to be read
    Jobs running_;
    std::thread thread_;
};

}  // namespace inkling::web
