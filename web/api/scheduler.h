// Generates the texts of all requests on one thread, as one batch per model. Texts join and leave between tokens; a
// text does not depend on the others in its batch.
//   Scheduler scheduler({.parallel = 16, .queue = 256, .threads = 2});
//   scheduler.add(stream);                  // throws HttpError 429 if the queue is full
//   stream->wait();                         // choice_stream.h
#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "web/api/choice_stream.h"
#include "web/api/metrics.h"

namespace inkling::web {

struct SchedulerOptions {
    std::size_t parallel = 16;  // texts generated at once
    std::size_t queue = 256;    // texts that may wait
    std::size_t threads = 1;    // OpenMP threads
    // While a prompt is processed, running texts get a token before its next product if they have waited this long.
    double seconds_between = 0.05;
};

class Scheduler {
  public:
    Scheduler(SchedulerOptions options, Metrics& metrics);
    ~Scheduler();
    void stop();  // fails unfinished texts; a long prompt stops before its next product
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    void add(const std::shared_ptr<ChoiceStream>& stream);
    const SchedulerOptions& options() const { return options_; }

  private:
    using Job = std::shared_ptr<ChoiceStream::Job>;  // also keeps its stream alive
    using Jobs = std::vector<Job>;
    void run();
    bool stopping();
    bool take_next();       // waits for work; false: stopped
    void take_full();       // a running text whose context is full is next_ while a part of it is processed again
    void drop_abandoned();  // removes jobs whose clients have disconnected
    void read_prompt();     // a piece of next_'s
    void step();            // one token for each text
    void step_beside();     // the same between two products of next_'s prompt
    static void step_alone(ChoiceStream::Job& job, const void* inference);

    const SchedulerOptions options_;
    Metrics& metrics_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    bool stopping_ = false;
    Job next_;  // its prompt is being read, or its context again
    Jobs running_;
    double last_step_ = 0;  // when it ended
    std::thread thread_;
};

}  // namespace inkling::web
