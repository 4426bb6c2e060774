#include "train/run/resume.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "train/loop.h"

namespace inkling::train {
namespace {

// "data" and how it is read: by its content, not by its name.
const std::set<std::string> kFree = {"data",
                                     "exclude",
                                     "text_field",
                                     "text_column",
                                     "lossy",
                                     "strict_vocabulary",
                                     "out",
                                     "resume",
                                     "overwrite",
                                     "max_iters",
                                     "max_time",
                                     "init_from",
                                     "init_adapter",
                                     "threads",
                                     "eval_every",
                                     "eval_on_start",
                                     "save_every",
                                     "log_every",
                                     "patience",
                                     "sample_prompt",
                                     "sample_every",
                                     "replan",
                                     "replan_step",
                                     "planned_iters",
                                     "checkpoint_activations"};

// More steps, or more time for them, than the checkpoint was planned for: the learning rate is to follow.
void extend(TrainingLoop& loop, const std::string& config) {
    constexpr double kPlanned = 1.1;  // as recipes plan
    const TrainOptions& now = loop.options();
    const TrainingState& state = loop.state();
    const auto then = toml_values(config, "the checkpoint's settings");
    if (state.step == 0 || now.replan_step > state.step || !then.contains("max_iters")) return;
    const std::size_t planned = std::stoull(then.at("max_iters"));
    const double time = then.contains("max_time") ? std::stod(then.at("max_time")) : 0;
    std::size_t max_iters = now.max_iters;
    if (max_iters == planned && time > 0 && now.max_time > time) {
        const double left = (now.max_time - state.train_s) / (state.train_s / static_cast<double>(state.step));
        max_iters = std::max(max_iters, state.step + static_cast<std::size_t>(std::max(0.0, kPlanned * left)));
    }
    if (max_iters > planned) loop.replan(max_iters, planned);
}

}  // namespace

std::string resume(TrainingLoop& loop, const std::filesystem::path& checkpoint, bool force) {
    TrainingStep& step = loop.step();
    // of several processes, each has a part of the optimizer's state, and reads all of it
    const std::unique_ptr<Optimizer<float>> whole =
        step.processes() ? make_optimizer(loop.options(), step.parameters) : nullptr;
    const TrainingState saved = load_state(checkpoint, step.parameters, whole ? *whole : *step.optimizer, step.average);
    if (whole) step.take_state(*whole);
    std::vector<std::string> changes = changed_settings(saved.config, loop.state().config);
    if (saved.data_fingerprint != loop.state().data_fingerprint)
        changes.insert(changes.begin(), fmt::format("it was trained on another text, {} tokens and hash, not {}",
                                                    saved.data_fingerprint, loop.state().data_fingerprint));
    if (saved.base_fingerprint != loop.state().base_fingerprint)
        changes.insert(changes.begin(),
                       "its adapters were trained for another model, or one kept in another "
                       "--base-precision, than is loaded");
    const std::string what =
        changes.empty() ? "" : fmt::format("{}: {}", checkpoint.string(), fmt::join(changes, "; "));
    if (!what.empty() && !force) throw Mismatch(what + ": undo that, or go on all the same with --force");
    loop.go_on_from(saved);
    extend(loop, saved.config);
    return what;
}

std::vector<std::string> changed_settings(const std::string& then, const std::string& now) {
    std::vector<std::string> changes;
    const auto before = toml_values(then, "the checkpoint's settings");
    for (const auto& [key, value] : toml_values(now, "the settings")) {
        const auto old = before.find(key);
        if (kFree.contains(key) || old == before.end() || old->second == value) continue;
        std::string flag = key;
        std::replace(flag.begin(), flag.end(), '_', '-');
        changes.push_back(fmt::format("--{} was {}, is {}", flag, old->second, value));
    }
    return changes;
}

}  // namespace inkling::train
