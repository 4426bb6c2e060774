#include "train/run/resume.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "train/loop.h"
#include "train/recipes/recipes.h"
#include "train/settings/settings.h"

namespace inkling::train {
namespace {

// Replans the learning rate if the run has more steps, or more time for them, than the checkpoint was planned for.
void extend(TrainingLoop& loop, const std::string& config) {
    const TrainOptions& now = loop.options();
    const TrainingState& state = loop.state();
    TrainOptions then;
    const auto given = parse_toml(config, "the checkpoint's settings", then, UnknownKeys::passed_over);
    const std::vector<RunPlan::Change>& changes = now.plan.changes;
    const bool changes_later = !changes.empty() && changes.back().step > state.step;
    if (state.step == 0 || changes_later || !given.contains("max-iters")) return;
    const std::size_t planned = then.max_iters;
    const double time = given.contains("max-time") ? then.max_time : 0;
    std::size_t max_iters = now.max_iters;
    if (max_iters == planned && time > 0 && now.max_time > time) {
        const double left = (now.max_time - state.train_s) / (state.train_s / static_cast<double>(state.step));
        max_iters = std::max(max_iters, state.step + static_cast<std::size_t>(std::max(0.0, kPlannedTime * left)));
    }
    if (max_iters > planned) loop.replan(max_iters, planned);
}

}  // namespace

std::string resume(TrainingLoop& loop, const std::filesystem::path& checkpoint, bool force) {
    TrainingStep& step = loop.step();
    TrainingState saved;
    step.load_optimizer([&](auto& whole) { saved = load_state(checkpoint, step.parameters, whole, step.average); });
    std::vector<std::string> changes = changed_settings(saved.config, loop.options());
    if (saved.data_fingerprint != loop.state().data_fingerprint)
        changes.insert(changes.begin(), fmt::format("it was trained on another text, {} tokens and hash, not {}",
                                                    saved.data_fingerprint, loop.state().data_fingerprint));
    if (saved.base_fingerprint != loop.state().base_fingerprint)
        changes.insert(changes.begin(),
                       "its adapters were trained for another model, or one kept in another "
                       "--base-precision, than is loaded");
    if (saved.teacher_fingerprint != loop.state().teacher_fingerprint)
        changes.insert(changes.begin(), "its teachers had other weights than those of --teacher");
    const std::string what =
        changes.empty() ? "" : fmt::format("{}: {}", checkpoint.string(), fmt::join(changes, "; "));
    if (!what.empty() && !force) throw Mismatch(what, "undo that, or go on all the same with --force");
    loop.go_on_from(saved);
    extend(loop, saved.config);
    return what;
}

std::vector<std::string> changed_settings(const std::string& then, TrainOptions now) {
    TrainOptions before;
    const auto given = parse_toml(then, "the checkpoint's settings", before, UnknownKeys::passed_over);
    std::vector<std::string> changes;
    for (const auto& [old, current] : differing(before, now))
        if (given.contains(old.name) && !old.is(kMayChange))
            changes.push_back(fmt::format("--{} was {}, is {}", old.name, old.toml(), current.toml()));
    return changes;
}

}  // namespace inkling::train
