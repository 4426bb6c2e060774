// The server's counters in Prometheus' format. Thread-safe.
//   metrics.request_done("/v1/completions", 200, 0.5);
//   metrics.text();                                       // "# TYPE inkling_requests_total counter\n..."
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace inkling::web {

class Metrics {
  public:
    void request_done(const std::string& path, int status, double seconds);
    void prompt_read(std::size_t tokens, double seconds);
    void tokens_written(std::size_t tokens, double seconds);  // one step
    void first_token(double seconds);                         // since the request arrived
    void add_running(std::ptrdiff_t texts) { running_ += texts; }
    void add_waiting(std::ptrdiff_t texts) { waiting_ += texts; }
    void add_abandoned(std::size_t texts) { abandoned_ += texts; }

    std::size_t running() const { return static_cast<std::size_t>(running_.load()); }
    std::size_t waiting() const { return static_cast<std::size_t>(waiting_.load()); }
    std::string text(std::size_t connections) const;

  private:
    // Counts of values up to each bound, and the sum of all.
    struct Histogram {
        static constexpr std::array<double, 12> kBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60};
        std::array<std::uint64_t, kBounds.size()> counts = {};
        std::uint64_t count = 0;
        double sum = 0;
        void add(double value);
        void write(std::string& text, const std::string& name, const std::string& help) const;
    };

    std::atomic<std::ptrdiff_t> running_ = 0, waiting_ = 0;
    std::atomic<std::size_t> abandoned_ = 0;
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, int>, std::uint64_t> requests_;  // by path and status
    std::uint64_t prompt_tokens_ = 0, written_tokens_ = 0, steps_ = 0;
    double prompt_seconds_ = 0, writing_seconds_ = 0;
    Histogram request_seconds_, first_token_seconds_;
};

}  // namespace inkling::web
