#include "train/run/resume.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "train/loop.h"
#include "train/recipes/fit.h"

namespace inkling::train {
namespace {

// Replans the learning rate if the run has more steps, or more time for them, than the checkpoint was planned for.
void extend(TrainingLoop& loop, const Config& then) {
    const TrainOptions& now = loop.options();
    const TrainingState& state = loop.state();
    const std::vector<RunPlan::Change>& changes = now.plan.changes;
    const bool changes_later = !changes.empty() && changes.back().step > state.step;
    if (state.step == 0 || changes_later || !then.is_given("max-iters")) return;
    const std::size_t planned = then.options.max_iters;
    const double time = then.is_given("max-time") ? then.options.max_time : 0;
    std::size_t max_iters = now.max_iters;
    if (max_iters == planned && time > 0 && now.max_time > time) {
        const double left = (now.max_time - state.elapsed_s) / (state.elapsed_s / static_cast<double>(state.step));
        max_iters = std::max(max_iters, state.step + static_cast<std::size_t>(std::max(0.0, kPlannedTime * left)));
    }
    if (max_iters > planned) loop.replan(max_iters, planned);
}

}  // namespace

std::string resume(TrainingLoop& loop, const std::filesystem::path& checkpoint, bool force) {
    TrainingStep& step = loop.step();
    TrainingState saved;
    step.load_optimizer([&](auto& whole) { saved = load_state(checkpoint, step.parameters, whole, step.average); });
    // a newer version may have written settings that this one does not know
    const Config then = parse_toml(saved.config, "the checkpoint's settings", UnknownKeys::passed_over);
    std::vector<std::string> changes = changed_inputs(saved, loop.state());
    for (const std::string& change : changed_settings(then, loop.options())) changes.push_back(change);
    const std::string what =
        changes.empty() ? "" : fmt::format("{}: {}", checkpoint.string(), fmt::join(changes, "; "));
    if (!what.empty() && !force) throw Mismatch(what, "undo that, or continue all the same with --force");
    loop.go_on_from(saved);
    extend(loop, then);
    return what;
}

std::vector<std::string> changed_inputs(const TrainingState& then, const TrainingState& now) {
    std::vector<std::string> changes;
    if (then.teacher_fingerprint != now.teacher_fingerprint)
        changes.push_back("its teachers had other weights than those of --teacher");
    if (then.base_fingerprint != now.base_fingerprint)
        changes.push_back(
            "its adapters were trained for another model, or one kept in another --base-precision, than is loaded");
    if (then.data_fingerprint != now.data_fingerprint)
        changes.push_back(fmt::format("it was trained on another text, {} tokens and hash, not {}",
                                      then.data_fingerprint, now.data_fingerprint));
    return changes;
}

std::vector<std::string> changed_settings(const Config& then, const TrainOptions& now) {
    std::vector<std::string> changes;
    for (const Setting* const s : differing(then.options, now))
        if (then.is_given(s->name) && !s->is(kMayChange))
            changes.push_back(fmt::format("--{} was {}, is {}", s->name, s->toml(then.options), s->toml(now)));
    return changes;
}

}  // namespace inkling::train
