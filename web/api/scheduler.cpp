#include "web/api/scheduler.h"

#include <malloc.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/memory/buffer_pool.h"
#include "engine/process/threads.h"
#include "web/http/http_error.h"

namespace inkling::web {
namespace {

template <class At>
std::size_t texts_of(At first, At last) {
    return std::accumulate(first, last, std::size_t{0},
                           [](std::size_t n, const auto& job) { return n + job->count(); });
}

HttpError shutting_down() { return {503, "the server is shutting down", "", "shutting_down"}; }

}  // namespace

Scheduler::Scheduler(SchedulerOptions options, Metrics& metrics) : options_(options), metrics_(metrics) {
    check(options_.parallel > 0, "--parallel must be at least 1, got 0");
    thread_ = std::thread([this] { run(); });
}

Scheduler::~Scheduler() {
    stop();
    thread_.join();
}

void Scheduler::stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
}

void Scheduler::add(const std::shared_ptr<ChoiceStream>& stream) {
    Jobs jobs;
    for (ChoiceStream::Job& job : stream->jobs()) jobs.emplace_back(stream, &job);
    const std::size_t more = stream->choices(), n = jobs.front()->count();
    if (n > options_.parallel)
        throw HttpError(400, fmt::format("n: at most {} texts are written at once, got {}", options_.parallel, n), "n");
    if (more > options_.parallel + options_.queue)
        throw HttpError(400,
                        fmt::format("prompt: at most {} texts a request are served, got {}",
                                    options_.parallel + options_.queue, more),
                        "prompt");
    const std::lock_guard lock(mutex_);
    const std::size_t now = metrics_.running() + metrics_.waiting();
    if (now + more > options_.parallel + options_.queue)
        throw HttpError(429,
                        fmt::format("{} texts are being written and {} wait: try again later", metrics_.running(),
                                    metrics_.waiting()),
                        "", "queue_full");
    waiting_.insert(waiting_.end(), jobs.begin(), jobs.end());
    metrics_.add_waiting(static_cast<std::ptrdiff_t>(more));
    changed_.notify_all();
}

bool Scheduler::stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
}

void Scheduler::run() {
    set_threads(options_.threads);
    const Interruptible scope([this] { return stopping(); });  // take_next() then fails the texts
    for (bool more = true; more;) {
        try {
            more = take_next();
            if (!more) break;
            drop_abandoned();
            if (!next_) take_full();
            if (next_) read_prompt();
            if (!running_.empty()) step();
        } catch (const std::exception&) {  // out of memory outside of a job: again, since some may come free
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

bool Scheduler::take_next() {
    std::unique_lock lock(mutex_);
    if (waiting_.empty() && running_.empty() && !next_ && !stopping_) {  // idle: release cached memory
        lock.unlock();
        release_cached_buffers();
        malloc_trim(0);
        lock.lock();
    }
    changed_.wait(lock, [&] { return stopping_ || next_ || !waiting_.empty() || !running_.empty(); });
    if (stopping_) {
        for (const auto& job : waiting_) job->stream.fail(&shutting_down);
        for (const auto& job : running_) job->stream.fail(&shutting_down);
        if (next_) next_->stream.fail(&shutting_down);
        return false;
    }
    if (!next_ && !waiting_.empty() &&
        texts_of(running_.begin(), running_.end()) + waiting_.front()->count() <= options_.parallel) {
        next_ = waiting_.front();
        waiting_.pop_front();
        metrics_.add_waiting(-static_cast<std::ptrdiff_t>(next_->count()));
        metrics_.add_running(static_cast<std::ptrdiff_t>(next_->count()));
    }
    return true;
}

void Scheduler::take_full() {
    const auto full = std::ranges::find_if(running_, [](const Job& job) { return job->reads_again(); });
    if (full == running_.end()) return;
    next_ = *full;
    running_.erase(full);
}

void Scheduler::drop_abandoned() {
    const auto gone = [](const Job& job) {
        if (!job->stream.abandoned()) return false;
        job->stream.fail(&client_gone);
        return true;
    };
    const auto dropped = [&](auto& jobs) {
        const auto first = std::stable_partition(jobs.begin(), jobs.end(), [&](const auto& job) { return !gone(job); });
        const std::size_t n = texts_of(first, jobs.end());
        jobs.erase(first, jobs.end());
        metrics_.add_abandoned(n);
        return -static_cast<std::ptrdiff_t>(n);
    };
    metrics_.add_running(dropped(running_));
    const std::lock_guard lock(mutex_);
    metrics_.add_waiting(dropped(waiting_));
}

void Scheduler::read_prompt() {
    const Job job = next_;
    const bool first = job->choices.empty();
    const Interruptible scope([&] {
        step_beside();
        return job->stream.abandoned();
    });
    try {
        if (job->read_piece()) return;
        if (first) metrics_.prompt_read(job->prompt.prompt_tokens(), job->prompt.prompt_seconds());
        if (first) metrics_.first_token(job->stream.seconds());
        running_.push_back(job);
    } catch (const Interrupted&) {
        const bool gone = !stopping();
        if (gone) metrics_.add_abandoned(job->count());
        metrics_.add_running(-static_cast<std::ptrdiff_t>(job->count()));
        job->stream.fail(gone ? &client_gone : &shutting_down);
    } catch (const std::exception& e) {
        job->stream.fail([&] { return HttpError(500, e.what()); });
        metrics_.add_running(-static_cast<std::ptrdiff_t>(job->count()));
    }
    next_ = nullptr;
}

void Scheduler::step_beside() {
    if (running_.empty() || seconds_now() - last_step_ < options_.seconds_between) return;
    try {
        step();
    } catch (const std::exception&) {  // out of memory outside of a job, as in run()
    }
}

// Steps the job's texts of this model one by one; if one fails, all fail.
void Scheduler::step_alone(ChoiceStream::Job& job, const void* inference) {
    try {
        for (ChoiceStream::Job::Choice& choice : job.choices) {
            generate::Sequence* const one = &choice.sequence;
            if (one->model().get() == inference) generate::step(std::span(&one, 1));
        }
    } catch (const Interrupted&) {
    } catch (const std::exception& e) {
        job.stream.fail([&] { return HttpError(500, e.what()); });
    }
}

void Scheduler::step() {
    std::map<const void*, std::vector<generate::Sequence*>> batches;  // by model
    for (const auto& job : running_) {
        if (job->reads_again()) continue;
        for (ChoiceStream::Job::Choice& choice : job->choices) {
            if (!choice.sequence.finished()) batches[choice.sequence.model().get()].push_back(&choice.sequence);
        }
    }
    const double start = seconds_now();
    std::size_t tokens = 0;
    for (const auto& [inference, batch] : batches) {
        try {
            generate::step(batch);
            tokens += batch.size();
        } catch (const std::exception&) {  // one failed, and some may have their token: retry each job alone
            for (const auto& job : running_)
                if (!job->reads_again()) step_alone(*job, inference);
        }
    }
    metrics_.tokens_written(tokens, seconds_now() - start);
    // free the places before publishing, so that a client with a whole answer finds them free
    const auto first =
        std::stable_partition(running_.begin(), running_.end(), [](const auto& job) { return !job->finished(); });
    metrics_.add_running(-static_cast<std::ptrdiff_t>(texts_of(first, running_.end())));
    for (const auto& job : running_) {
        try {
            job->publish();
        } catch (const std::exception& e) {  // the next step drops it
            job->stream.fail([&] { return HttpError(500, e.what()); });
        }
    }
    running_.erase(first, running_.end());
    last_step_ = seconds_now();
}

}  // namespace inkling::web
