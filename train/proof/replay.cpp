#include "train/proof/replay.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/cpu.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "train/proof/difference.h"
#include "train/run/chain.h"
#include "train/run/resume.h"
#include "train/run/run_folder.h"
#include "train/settings/settings.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

struct TemporaryFolder {
    fs::path path;
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "inkling-replay-XXXXXX").string();
        check(::mkdtemp(name.data()) != nullptr, "{}: cannot be made: {}", name, std::strerror(errno));
        path = name;
    }
    ~TemporaryFolder() { formats::try_remove_tree(path); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

// Compares each step of the loop with the records of a stretch.
class Comparison : public Callback {
  public:
    Comparison(const Stretch& stretch, const data::Tokenizer& tokenizer) : stretch_(stretch), tokenizer_(tokenizer) {
        for (const std::string& line : lines_of(stretch.run / "metrics.jsonl"))
            if (const auto json = formats::ordered_json_or_null(line); json.is_object())
                metrics_[json.value("step", std::size_t{0})] = json;
        for (ChainLine& line : read_chain(stretch.run)) chain_[line.step] = std::move(line);
    }

    void evaluated(TrainingLoop& loop) override {
        if (loop.state().step == 0) compare_metrics(loop);
    }
    void step_done(TrainingLoop& loop) override { compare(loop); }

    void compare(TrainingLoop& loop) {
        const std::size_t step = loop.state().step;
        compare_metrics(loop);
        if (result.problem.empty() && (chain_.contains(step) || step == stretch_.last)) compare_checkpoint(loop);
        ended_ = step >= stretch_.last;
    }

    bool ended() const { return ended_ || !result.problem.empty(); }
    Replayed result;

  private:
    void compare_metrics(TrainingLoop& loop) {
        const auto recorded = metrics_.find(loop.metrics().step);
        if (recorded == metrics_.end()) return;
        const nlohmann::ordered_json here = json_of(loop.metrics());
        for (const char* const key : {"loss", "val_loss", "lr", "grad_norm"}) {
            const auto found = recorded->second.find(key);
            if (found == recorded->second.end() || !here.contains(key) || *found == here[key]) continue;
            return fail(loop,
                        fmt::format("{} is {} in metrics.jsonl and {} here", key, found->dump(), here[key].dump()));
        }
        result.losses += here.contains("loss");
    }

    void compare_checkpoint(TrainingLoop& loop) {
        const TemporaryFolder here;
        TrainingStep& step = loop.step();
        TrainingState state = loop.state();
        state.spikes = step.spikes;
        {
            const Averaged weights(step.average);
            result.sha256 = save_checkpoint(here.path, loop.model(), tokenizer_, step.parameters, *step.optimizer,
                                            step.average, state);
        }
        const FileHashes hashes = hashes_of(here.path, result.sha256);
        if (state.step == stretch_.last && !stretch_.to.empty())
            if (const std::string found = difference(stretch_.to, here.path, hashes); !found.empty())
                return fail(loop, found);
        const auto line = chain_.find(state.step);
        if (line == chain_.end()) return;
        if (line->second.text != state.data_fingerprint) return fail(loop, "the text is not the one in chain.jsonl");
        const FileHashes& there = line->second.files;
        for (const auto& [name, hash] : hashes)
            if (const auto found = there.find(name); found == there.end() || found->second != hash)
                return fail(loop, fmt::format("{} is not the one in chain.jsonl", name));
        result.lines.push_back(state.step);
    }

    void fail(const TrainingLoop& loop, const std::string& what) {
        result.problem = fmt::format("step {}: {}", loop.state().step, what);
    }

    const Stretch& stretch_;
    const data::Tokenizer& tokenizer_;
    std::map<std::size_t, nlohmann::ordered_json> metrics_;
    std::map<std::size_t, ChainLine> chain_;
    bool ended_ = false;
};

// The settings with which the run came to the stretch's end. They hold all changes of its plan on the way.
Config settings_of(const Stretch& stretch) {
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
    return c;
}

void check_cpu(const Stretch& stretch, const TrainOptions& options) {
    if (options.precision != Precision::bf16) return;
    for (const ChainLine& line : read_chain(stretch.run)) {
        const auto there = find_named<CpuKind>(line.cpu);
        const bool in_pairs = used_kind() == CpuKind::avx512_bf16;
        if (line.step <= stretch.first || line.step > stretch.last || !there) continue;
        check<BadInput>((*there == CpuKind::avx512_bf16) == in_pairs,
                        "was trained in bf16 on {}, which rounds in another order than {} here: {}", line.cpu,
                        name_of(used_kind()),
                        in_pairs ? "set INKLING_CPU=avx512" : "a CPU with AVX512_BF16 is required");
    }
}

}  // namespace

std::vector<Stretch> stretches_of(const fs::path& run, std::vector<fs::path> checkpoints) {
    std::ranges::sort(checkpoints, {}, step_of);
    std::vector<Stretch> all;
    Stretch next{.run = run};
    for (const fs::path& checkpoint : checkpoints) {
        next.to = checkpoint, next.last = step_of(checkpoint);
        all.push_back(next);
        next.from = checkpoint, next.first = next.last;
    }
    return all;
}

Replayed replay(const Stretch& stretch, TextOfRuns& text, SetupEvents& events, Callback& watch,
                const std::function<bool()>& stop) {
    Resume resume;
    if (!stretch.from.empty()) resume.candidates = {stretch.from};
    Config config = resolve(settings_of(stretch), resume);
    check_cpu(stretch, config.options);
    config.options.out = "";  // no file of ids
    PreparedRun run{.corpus = text.corpus, .datasets = &text.datasets};
    prepare(config, resume, events, run);
    Comparison comparison(stretch, *run.loaded.tokenizer);
    if (!stretch.to.empty())
        for (const std::string& other : changed_inputs(stored_state(stretch.to), run.loop->state()))
            return {fmt::format("step {}: {}", stretch.last, other)};
    if (stretch.first == 0) comparison.compare(*run.loop);
    try {
        run.loop->run({&comparison, &watch}, [&] { return comparison.ended() || stop(); });
        if (!comparison.ended() && !stop())
            comparison.result.problem =
                fmt::format("step {}: its settings end the training here", run.loop->state().step);
    } catch (const Diverged& e) {
        comparison.result.problem = e.what();
    }
    return comparison.result;
}

}  // namespace inkling::train
