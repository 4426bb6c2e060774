// What a run tells while it learns, on stderr: a moving line on a terminal, plain lines elsewhere.
//   Report report;
//   loop.run({&report});
#pragma once

#include <chrono>
#include <string>

#include "train/callback.h"
#include "train/setup.h"

namespace inkling::cli {

std::string short_time(double seconds);                    // "1m05s"
std::string loss_text(double nats, double bits_per_byte);  // "1.4828 (2.1392 bits per byte)"

class Report : public train::Callback, public train::SetupEvents {
  public:
    explicit Report(bool quiet = false, bool silent = false);  // quiet: warnings alone; silent: nothing
    ~Report() override;
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    void note(const std::string& text) override;                // a line that stays
    void warn(const std::string& text) override;                // the same, marked as a warning
    void encoding(std::size_t done, std::size_t all) override;  // bytes of text; of large texts alone
    void planned(const train::TrainOptions& options, const train::FittedPlan& plan) override;
    void sample(const std::string& text);  // text that the model writes, between two rules

    void step_refused(train::TrainingLoop& loop) override;
    void spike(train::TrainingLoop& loop) override;
    void step_done(train::TrainingLoop& loop) override;
    void evaluating(train::TrainingLoop& loop, double done) override;
    void evaluated(train::TrainingLoop& loop) override;
    void replanned(train::TrainingLoop& loop) override;
    void stopped(train::TrainingLoop& loop) override;

    bool moving_line(std::string text);  // true: it stays

  private:
    void line(const std::string& text);
    void write(const std::string& text);
    void wipe();

    bool quiet_, silent_, terminal_;
    std::size_t moving_ = 0;      // columns of the moving line that is shown
    std::size_t shown_step_ = 0;  // the last of which a line stays
    std::chrono::steady_clock::time_point next_plain_line_;
};

// How far a piece of work is, and when it will be over: at once on a terminal, elsewhere when it takes long. A moving
// line goes with it.
//   Progress progress("evaluating 4096 tokens");
//   progress.show(0.25);
class Progress {
  public:
    explicit Progress(std::string what);
    void show(double done);  // in [0, 1)

  private:
    Report report_;
    std::string what_;
    double began_, next_ = 0;
};

}  // namespace inkling::cli
