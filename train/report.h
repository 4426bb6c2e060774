// What a run tells while it learns, on stderr: a moving line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "train/metrics.h"

namespace inkling::train {

class Report {
  public:
    explicit Report(bool quiet = false);
    ~Report();
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    void note(const std::string& text);                // a line that stays
    void warn(const std::string& text);                // the same, marked as a warning
    void encoding(std::size_t done, std::size_t all);  // bytes of text; of large texts alone
    void progress(const Metrics& metrics, std::size_t max_steps, double eta_s);
    void evaluation(const Metrics& metrics, std::size_t max_steps);
    void sample(const std::string& text);  // text that the model writes, between two rules

  private:
    void line(const std::string& text);
    void moving_line(std::string text);
    void wipe();

    bool quiet_, terminal_, moving_ = false;
    std::chrono::steady_clock::time_point next_plain_line_;
};

}  // namespace inkling::train
