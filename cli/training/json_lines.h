// inkling train --json: prints the events of a run on stdout, one JSON object per line. "event" is plan, step,
// evaluation, anomaly, sample or end; docs/using.md lists the keys.
//   JsonLines lines;
//   lines.plan(plan_json(options, model, tokens, vocabulary, threads));
//   loop.run({&lines});
//   lines.end(loop, folder.path());
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "train/callback.h"
#include "train/settings/options.h"

namespace inkling::cli {

// The plan event: the sizes of the run and all its settings.
nlohmann::ordered_json plan_json(const train::TrainOptions& options, std::size_t parameters, std::size_t tokens,
                                 std::size_t vocab_size, std::size_t threads);

// Training continues without a reader; the write error is thrown at the end.
class JsonLines : public train::Callback {
  public:
    void plan(const nlohmann::ordered_json& plan);
    void sample(const train::TrainingLoop& loop, const std::string& prompt, const std::string& text);
    // `run`: the run's folder; `sha256`: of the weights of its newest checkpoint. Throws Error if a line could not be
    // written.
    void end(const train::TrainingLoop& loop, const std::filesystem::path& run, const std::string& sha256);

    void step_refused(train::TrainingLoop& loop) override;
    void spike(train::TrainingLoop& loop) override;
    void step_done(train::TrainingLoop& loop) override;
    void evaluated(train::TrainingLoop& loop) override;
    void replanned(train::TrainingLoop& loop) override;  // prints the plan again
    void stopped(train::TrainingLoop& loop) override;

  private:
    void step(const train::TrainingLoop& loop);
    void write(const char* event, const nlohmann::ordered_json& keys);

    nlohmann::ordered_json plan_;
    std::size_t last_step_ = 0;  // the last step that was written
    std::string failure_;
};

}  // namespace inkling::cli
