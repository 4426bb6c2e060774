// The program as functions: main() is the one, Python's module (python/) calls both.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace inkling::train {
class Callback;
}

namespace inkling::cli {

// What `inkling` does with these arguments; argv[0] is its name. Signals end the process, which may execute itself
// again with `again`: settings of libraries are made before it begins. Returns the exit code.
int run_program(int argc, char** argv, char** again);

// The same in a process that is set up already. argv[0] is left out.
int run_command(std::vector<std::string> arguments);

// Who runs a training from a program of their own.
struct TrainCaller {
    train::Callback* callback = nullptr;   // told last
    std::function<bool()> stop = nullptr;  // asked as TrainingLoop::run does; the run is saved then
};

// `inkling train` with these flags, by their names without dashes, each with its values: {"max-iters", {"100"}}. What
// it refuses is thrown, with the text that the program prints. Returns 0, or the exit code of a run that was stopped.
int run_train(const std::map<std::string, std::vector<std::string>>& flags, const TrainCaller& caller);

}  // namespace inkling::cli
