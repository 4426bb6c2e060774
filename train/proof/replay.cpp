#include "train/proof/replay.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "engine/base/cpu.h"
#include "formats/files/file.h"
#include "train/proof/comparison.h"
#include "train/run/chain.h"
#include "train/run/resume.h"
#include "train/run/run_folder.h"
#include "train/settings/settings.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

// The settings at the stretch's end.
Config settings_of(const Stretch& stretch, const MovedModels& moved) {
    const fs::path from = stretch.to.empty() ? stretch.run / "config.toml" : stretch.to;
    const std::string text =
        stretch.to.empty() ? formats::read_file(from, formats::FileKind::toml) : stored_state(stretch.to).config;
    Config c = parse_toml(text, from.string(), UnknownKeys::passed_over);
    TrainOptions& o = c.options;
    o.config = from.string();                                   // no recipe chooses anything
    o.force = true;                                             // if settings changed, the bits tell
    o.max_time = 0, o.patience = 0, o.plan.adjustable = false;  // its end is known
    if (!find_named<data::TokenizerKind>(o.tokenizer))
        o.tokenizer = (stretch.to.empty() ? stretch.run : stretch.to).string();
    if (!moved.teacher.empty()) o.teacher = moved.teacher;
    if (!moved.init_from.empty()) o.init_from = moved.init_from, c.given["init-from"] = Config::Source::flag;
    return c;
}

void check_models(const Stretch& stretch, const TrainOptions& options) {
    const auto check_model = [](const std::string& model, const char* flag) {
        check<BadInput>(model.empty() || formats::is_there(model), "there is no {} here: name that model with {}",
                        model, flag);
    };
    if (stretch.from.empty()) check_model(options.init_from, "--init-from");
    for (const std::string& teacher : options.teacher) check_model(teacher, "--teacher");
}

void check_cpu(const ChainLine& line) {
    const auto there = find_named<CpuKind>(line.cpu);
    const bool in_pairs = used_kind() == CpuKind::avx512_bf16;
    check<BadInput>(!there || (*there == CpuKind::avx512_bf16) == in_pairs,
                    "was trained in bf16 on {}, which rounds in another order than {} here: {}", line.cpu,
                    name_of(used_kind()), in_pairs ? "set INKLING_CPU=avx512" : "a CPU with AVX512_BF16 is required");
}

// Steps that were trained with the same settings, on one kind of CPU. The last line of the chain holds them.
struct Part {
    std::size_t last = 0;
    const ChainLine* line = nullptr;  // null: the chain says nothing
};

// Whether the settings are the same, or a change of the plan (`later`: of the stretch's end) made them differ.
bool same_settings(const ChainLine& before, const ChainLine& line, const RunPlan& later) {
    if (before.settings == line.settings) return true;
    ChainSettings then = before.settings, now = line.settings;
    const std::string planned = std::exchange(then["max_iters"], now["max_iters"]);
    return then == now && std::ranges::any_of(later.changes, [&](const RunPlan::Change& c) {
               return c.step >= before.step && c.step < line.step && fmt::format("{}", c.steps_before) == planned;
           });
}

std::vector<Part> parts_of(const Stretch& stretch, const std::vector<ChainLine>& chain, const RunPlan& plan) {
    std::vector<Part> parts;
    for (const ChainLine& line : chain) {
        if (line.step > stretch.last || (line.step <= stretch.first && line.step > 0)) continue;
        const ChainLine* const before = parts.empty() ? nullptr : parts.back().line;
        if (before && before->cpu == line.cpu && same_settings(*before, line, plan)) parts.pop_back();
        parts.push_back({line.step, &line});
    }
    if (parts.empty() || parts.back().last != stretch.last) parts.push_back({stretch.last});
    return parts;
}

// What the chain says of the stretch's end and its checkpoint or config.toml does not; "" if they say the same.
std::string change_of(const Stretch& stretch, const ChainLine& line, const TrainOptions& options) {
    for (const Setting& s : settings()) {
        const auto there = line.settings.find(s.key());
        const bool later = stretch.to.empty() && s.is(kMayChange);  // config.toml may be newer
        if (there == line.settings.end() || later || there->second == s.text(options)) continue;
        return fmt::format("step {}: --{} is {} in {} and {} in chain.jsonl", stretch.last, s.name, s.text(options),
                           stretch.to.empty() ? "config.toml" : stretch.to.filename().string(), there->second);
    }
    return "";
}

void take_settings(const Part& part, TrainOptions& options) {
    if (!part.line) return;
    for (const Setting& s : settings())
        if (const auto there = part.line->settings.find(s.key()); there != part.line->settings.end())
            s.read(options, {there->second});
    std::erase_if(options.plan.changes, [&](const RunPlan::Change& change) { return change.step >= part.last; });
}

// The text and the models of the stretch's end.
TrainingState inputs_of(const Stretch& stretch, const ChainLine* line) {
    if (!stretch.to.empty()) return stored_state(stretch.to);
    TrainingState state;
    if (line) state.data_fingerprint = line->text, state.base_fingerprint = line->base;
    if (line) state.teacher_fingerprint = line->teachers;
    return state;
}

}  // namespace

std::vector<Stretch> stretches_of(const fs::path& run, const std::vector<CheckedCheckpoint>& newest_first) {
    std::vector<Stretch> all;
    Stretch next{.run = run};
    for (const CheckedCheckpoint& checkpoint : std::views::reverse(newest_first)) {
        if (!checkpoint.problem.empty()) continue;
        next.to = checkpoint.folder, next.files = checkpoint.files, next.last = step_of(next.to);
        all.push_back(next);
        next.from = next.to, next.first = next.last;
    }
    return all;
}

Replayed replay(const Stretch& stretch, const MovedModels& moved, TextOfRuns& text, Callback& watch,
                const std::function<bool()>& stop) {
    const std::vector<ChainLine> chain = read_chain(stretch.run);
    const Config config = settings_of(stretch, moved);
    const std::vector<Part> parts = parts_of(stretch, chain, config.options.plan);
    check_models(stretch, config.options);
    Comparison comparison(stretch, chain);
    std::string& problem = comparison.result.problem;
    if (const ChainLine* const line = parts.back().line) problem = change_of(stretch, *line, config.options);
    fs::path from = stretch.from;
    for (const Part& part : parts) {
        if (!problem.empty() || stop()) break;
        if (part.line) check_cpu(*part.line);
        Resume resume;
        if (!from.empty()) resume.candidates = {from};
        Config settings = config;
        take_settings(part, settings.options);
        settings = resolve(settings, resume);
        settings.options.out = "";  // no file of ids
        SetupEvents silent;
        PreparedRun run{.corpus = text.corpus, .datasets = &text.datasets};
        prepare(settings, resume, silent, run);
        for (const std::string& other : changed_inputs(inputs_of(stretch, parts.back().line), run.loop->state()))
            return {fmt::format("step {}: {}", stretch.last, other)};
        comparison.begin(*run.loop, *run.loaded.tokenizer, part.last);
        try {
            run.loop->run({&comparison, &watch}, [&] { return comparison.ended() || stop(); });
            if (!comparison.ended() && !stop())
                problem = fmt::format("step {}: its settings end the training here", run.loop->state().step);
        } catch (const Diverged& e) {
            problem = e.what();
        }
        if (comparison.ended() && problem.empty()) from = comparison.saved();
    }
    return comparison.result;
}

}  // namespace inkling::train
