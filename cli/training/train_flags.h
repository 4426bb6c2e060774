// The settings of a run as flags of a command.
//   const auto flags = std::make_shared<TrainFlags>(app, [](const train::Setting&) { return true; });
//   return [flags] { return run_train(flags->config(), {}); };
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "train/settings/settings.h"

namespace inkling::cli {

class TrainFlags {
  public:
    // Adds those that `takes` accepts. --help shows the defaults of a plain run. `bare_data`: --data may stand without
    // its name.
    TrainFlags(CLI::App& app, const std::function<bool(const train::Setting&)>& takes, bool bare_data = true);
    TrainFlags(const TrainFlags&) = delete;
    TrainFlags& operator=(const TrainFlags&) = delete;

    train::Config config() const;                                   // what the command line gave
    std::map<std::string, std::vector<std::string>> texts() const;  // the same, as it was written

  private:
    train::TrainOptions options_;
    std::map<std::string, const CLI::Option*> flags_;
};

}  // namespace inkling::cli
