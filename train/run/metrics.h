// OUT/metrics.jsonl: one JSON object per line. Keys: step, loss, val_loss (if evaluated), lr, grad_norm, tok_s, train_s
// (seconds of training steps), elapsed_s (wall clock since the start); with val_loss also val_tokens, the number of
// tokens in its mean, and bits_per_byte; with a checkpoint also sha256, of its file of weights. An evaluation before
// the first step has a line with step 0, without loss, lr, grad_norm and tok_s.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/callback.h"
#include "train/step/step.h"

namespace inkling::train {

std::vector<std::string> lines_of(const std::filesystem::path& file);  // none without the file

// A file of a run with one JSON object per line, each with its "step": metrics.jsonl, samples.jsonl, chain.jsonl.
//   LinesFile file(folder / "samples.jsonl", loop.state().step);
//   file.write({{"step", 500}, {"text", text}});

class LinesFile {
  public:
    // Opens for appending; a link or a device in its place becomes a regular file. Drops lines of steps after
    // `last_step`, which remain if the run got further than the checkpoint it resumes from, and lines without a step.
    LinesFile(const std::filesystem::path& path, std::size_t last_step);
    void write(const nlohmann::ordered_json& line);  // the line is in the file when this returns; throws Error

  private:
    std::filesystem::path path_;
    std::shared_ptr<std::FILE> file_;
};

struct Metrics : StepResult {
    std::size_t step = 0;
    std::optional<double> val_loss = {};
    std::size_t val_tokens = 0;                // in the mean val_loss
    std::optional<double> bits_per_byte = {};  // of the validation part's text
    double tok_s = 0, train_s = 0, elapsed_s = 0;
    std::string sha256 = {};  // of the weights in its checkpoint; "" without one
};

nlohmann::ordered_json json_of(const Metrics& metrics);  // with the keys above

class MetricsFile : public Callback {
  public:
    MetricsFile(const std::filesystem::path& path, std::size_t last_step) : file_(path, last_step) {}
    void write(const Metrics& metrics);
    void saved(const std::string& sha256);        // writes the line of the checkpoint's step
    void step_done(TrainingLoop& loop) override;  // writes finite steps that are log_due(), or leaves them to saved()
    void evaluated(TrainingLoop& loop) override;  // writes an evaluation before the first step
    void stopped(TrainingLoop& loop) override;    // always writes the last step

  private:
    void write_held();

    LinesFile file_;
    std::optional<Metrics> held_;  // until its checkpoint is saved
    std::size_t written_ = 0;      // the last step
};

}  // namespace inkling::train
