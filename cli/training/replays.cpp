#include "cli/training/replays.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/common.h"
#include "cli/log.h"
#include "cli/signals.h"
#include "cli/training/progress.h"
#include "engine/base/random.h"
#include "formats/ascii.h"
#include "train/run/metrics.h"

namespace inkling::cli {
namespace {

using nlohmann::ordered_json;
using train::Replayed;
using train::Stretch;

// Shows how far a stretch is.
struct Watch : train::Callback {
    explicit Watch(const Stretch& s) : stretch(s), progress(fmt::format("replaying steps {} to {}", s.first, s.last)) {}
    void step_done(train::TrainingLoop& loop) override {
        const auto done = static_cast<double>(loop.state().step - stretch.first);
        progress.show(std::min(0.999, done / static_cast<double>(stretch.last - stretch.first)));
    }
    const Stretch& stretch;
    Progress progress;
};

// A random choice of `count` stretches, in the order of their steps.
std::vector<Stretch> chosen(std::vector<Stretch> all, std::size_t count, const std::optional<std::uint64_t>& given) {
    if (count >= all.size()) return all;
    const std::uint64_t seed = given ? *given : std::random_device()();
    spdlog::info("replaying {} of {} stretches, seed {}", count, all.size(), seed);
    const RandomKey key = Generator{seed}.next();
    for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random_below(key, i, all.size() - i)]);
    all.resize(count);
    std::ranges::sort(all, {}, &Stretch::last);
    return all;
}

void say_replayed(const Stretch& s, const Replayed& r, const SayLine& say) {
    const bool holds = r.problem.empty();
    if (s.to.empty())
        for (const std::size_t step : r.lines)
            say({{"event", "line"}, {"step", step}, {"holds", true}}, fmt::format("step {}: holds", step));
    say({{"event", "stretch"},
         {"from", s.first},
         {"to", s.last},
         {"holds", holds},
         {"losses", r.losses},
         {"sha256", holds ? ordered_json(r.sha256) : ordered_json()},
         {"problem", holds ? ordered_json() : ordered_json(r.problem)}},
        holds ? fmt::format("steps {} to {}: hold: {}, and the weights, sha256 {}", s.first, s.last,
                            counted(r.losses, "recorded step"), r.sha256)
              : fmt::format("steps {} to {}: differ: {}", s.first, s.last, r.problem));
}

// `report` shows them. A folder that cannot be written is not an error.
void note_replayed(const Stretch& s, const Replayed& r) {
    try {
        train::LinesFile(s.run / "replayed.jsonl", SIZE_MAX)
            .write({{"step", s.last}, {"from", s.first}, {"sha256", r.sha256}});
    } catch (const Error& e) {
        spdlog::warn("{}", e.what());
    }
}

}  // namespace

std::size_t ReplayFlags::limit() const {
    if (count == "all") return SIZE_MAX;
    const auto n = formats::parse_number<std::size_t>(count);
    check<Usage>(n && *n > 0, "--replay must be a number of stretches, or all, got '{}'", count);
    return *n;
}

ReplayCounts replay_stretches(const std::vector<Stretch>& all, const ReplayFlags& flags, train::TextOfRuns& text,
                              const SayLine& say) {
    ReplayCounts counts;
    for (const Stretch& s : chosen(all, flags.limit(), flags.seed)) {
        try {
            Watch watch(s);
            const Replayed r = train::replay(s, flags.moved, text, watch, [] { return catch_signals() != 0; });
            if (signal_code() != 0) break;
            ++(r.problem.empty() ? counts.hold : counts.differ);
            counts.lines += r.lines.size();
            if (r.problem.empty() && !s.to.empty()) note_replayed(s, r);  // a proof stays as it was made
            say_replayed(s, r, say);
        } catch (const Error& e) {
            ++counts.not_replayed;
            say({{"event", "stretch"}, {"from", s.first}, {"to", s.last}, {"holds", nullptr}, {"problem", e.what()}},
                fmt::format("steps {} to {}: not replayed: {}", s.first, s.last, e.what()));
        }
    }
    return counts;
}

}  // namespace inkling::cli
