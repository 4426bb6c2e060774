// The progress of a run on stderr: a moving line on a terminal, plain lines elsewhere.
//   Report report;
//   loop.run({&report});
#pragma once

#include <chrono>
#include <string>

#include "train/callback.h"
#include "train/setup/setup.h"

namespace inkling::cli {

std::string short_time(double seconds);                    // "1m05s"
std::string loss_text(double nats, double bits_per_byte);  // "1.4828 (2.1392 bits per byte)"

class Report : public train::Callback, public train::SetupEvents {
  public:
    explicit Report(bool quiet = false, bool silent = false);  // quiet: only warnings; silent: nothing
    ~Report() override;
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    void note(const std::string& text) override;                // prints a line that stays
    void warn(const std::string& text) override;                // the same, marked as a warning
    void encoding(std::size_t done, std::size_t all) override;  // bytes of text; only for large texts
    void planned(const train::TrainOptions& options, const models::Architecture& model, double text_tokens,
                 double seconds_per_step) override;
    void sample(const std::string& text);  // prints generated text between two rules

    void step_refused(train::TrainingLoop& loop) override;
    void spike(train::TrainingLoop& loop) override;
    void step_done(train::TrainingLoop& loop) override;
    void evaluating(train::TrainingLoop& loop, double done) override;
    void evaluated(train::TrainingLoop& loop) override;
    void replanned(train::TrainingLoop& loop) override;
    void stopped(train::TrainingLoop& loop) override;

    bool moving_line(std::string text);  // returns true if the line stays

  private:
    void wipe();

    bool quiet_, silent_, terminal_;
    std::size_t moving_ = 0;      // columns of the moving line
    std::size_t shown_step_ = 0;  // the last step with a line that stays
    std::chrono::steady_clock::time_point next_plain_line_;
};

// Shows how far a piece of work is and when it will end: on a terminal at once, in a moving line; elsewhere only if it
// takes long.
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
