// Several "processes" that train together, each a thread of the test program. Messages go through memory.
//   together(4, [&](distributed::Processes& all) { ... });
#pragma once

#include <omp.h>

#include <deque>
#include <mutex>

#include "distributed/processes.h"

namespace inkling::testing {

// Catch2's assertions allow one thread at a time.
inline std::mutex& assertion_mutex() {
    static std::mutex mutex;
    return mutex;
}
#define CHECK_IN_THREAD(condition)                              \
    do {                                                        \
        const bool holds = condition;                           \
        const std::lock_guard lock(testing::assertion_mutex()); \
        INFO(#condition);                                       \
        CHECK(holds);                                           \
    } while (false)

struct Mail {
    std::atomic<bool> failed = false;  // a thread ended by an exception: stop waiting for its letters
    std::mutex mutex;
    std::map<std::tuple<std::size_t, std::size_t, int>, std::deque<std::vector<std::byte>>> letters;  // from, to, tag
};

class ThreadAsProcess final : public distributed::Processes {
  public:
    ThreadAsProcess(Mail& mail, std::size_t own, std::size_t all) : mail_(mail) {
        rank = own, count = all;
        hosts.assign(all, "here");
    }

    void send(std::size_t to, int tag, const void* data, std::size_t bytes, Done done) override {
        const auto* const from = static_cast<const std::byte*>(data);
        {
            const std::lock_guard lock(mail_.mutex);
            mail_.letters[{rank, to, tag}].emplace_back(from, from + bytes);
        }
        sent_bytes += bytes;
        sent_.push_back(std::move(done));
    }

    void receive(std::size_t from, int tag, void* data, std::size_t bytes, Done done) override {
        wanted_.push_back({from, tag, data, bytes, std::move(done)});
    }

    bool progress() override {
        check(!mail_.failed, "another thread has failed");
        std::vector<Done> done = std::move(sent_);
        sent_.clear();
        deliver(done);
        for (const Done& each : done) each();
        return !done.empty();
    }

    void fail(const std::string& why, int) override { throw Error(why); }
    void finish() override {}

    std::size_t sent_bytes = 0;

  private:
    void gather(std::byte* all, const std::vector<std::size_t>& begins) override {
        const auto size = [&](std::size_t i) { return begins[i + 1] - begins[i]; };
        std::size_t open = 2 * (count - 1);
        for (std::size_t i = 1; i < count; ++i) {
            const std::size_t to = (rank + i) % count, from = (rank + count - i) % count;
            receive(from, kGathered, all + begins[from], size(from), [&] { --open; });
            send(to, kGathered, all + begins[rank], size(rank), [&] { --open; });
        }
        wait([&] { return open == 0; });
    }

    void send_to_all(char* data, std::size_t bytes) override {
        std::vector<std::size_t> begins(count + 1, bytes);  // the others' parts are empty
        begins[0] = 0;
        gather(reinterpret_cast<std::byte*>(data), begins);
    }

    void deliver(std::vector<Done>& done) {
        // for the whole loop, so that the first request gets the first letter
        const std::lock_guard lock(mail_.mutex);
        for (auto w = wanted_.begin(); w != wanted_.end();) {
            auto& letters = mail_.letters[{w->from, rank, w->tag}];
            if (letters.empty()) {
                ++w;
                continue;
            }
            check(letters.front().size() == w->bytes, "a message of {} bytes, {} were expected", letters.front().size(),
                  w->bytes);
            std::memcpy(w->data, letters.front().data(), w->bytes);
            letters.pop_front();
            done.push_back(std::move(w->done));
            w = wanted_.erase(w);
        }
    }

    static constexpr int kGathered = -1;  // a reserved tag

    struct Wanted {
        std::size_t from;
        int tag;
        void* data;
        std::size_t bytes;
        Done done;
    };
    Mail& mail_;
    std::vector<Done> sent_;
    std::deque<Wanted> wanted_;
};

template <class Body>
void together(std::size_t count, const Body& body) {
    Mail mail;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            omp_set_num_threads(1 + static_cast<int>(i % 2));
            ThreadAsProcess own(mail, i, count);
            try {
                body(own);
            } catch (const std::exception& e) {
                mail.failed = true;
                const std::lock_guard lock(assertion_mutex());
                FAIL_CHECK("process " << i << ": " << e.what());
            }
        });
    for (std::thread& t : threads) t.join();
}

}  // namespace inkling::testing
