// The program as functions: main() calls the first, Python's module (python/) calls both.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace inkling::train {
class Callback;
struct Config;
struct TextOfRuns;
}  // namespace inkling::train

namespace inkling::cli {

// Runs `inkling` with these arguments; argv[0] is its name. Signals end the process. It may execute itself again with
// `again`, because some settings of libraries must be made before a program starts. Returns the exit code.
int run_program(int argc, char** argv, char** again);

// The same in a process that is already set up, without argv[0].
int run_command(std::vector<std::string> arguments);

// Hooks for a program that runs a training itself.
struct TrainCaller {
    train::Callback* callback = nullptr;   // called after all others
    std::function<bool()> stop = nullptr;  // true ends the run, which is saved (TrainingLoop::run)
    train::TextOfRuns* text = nullptr;     // read already, for several runs
    std::string comparison = "";           // goes into run.json: the comparison that the run belongs to
};

// Reads flags of `inkling train`, named without dashes, each with its values: {"max-iters", {"100"}}. Throws Usage.
train::Config train_config(const std::map<std::string, std::vector<std::string>>& flags);

// Runs `inkling train` with the flags in `config`, and the file of its --config. Throws what the program would print.
// Returns 0, or the exit code of a stopped run.
int run_train(train::Config config, const TrainCaller& caller = {});

}  // namespace inkling::cli
