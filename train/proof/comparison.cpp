#include "train/proof/comparison.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/check.h"
#include "formats/files/directory.h"
#include "formats/json.h"
#include "train/loop.h"
#include "train/proof/difference.h"

namespace inkling::train {

TemporaryFolder::TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "inkling-replay-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, "{}: cannot be made: {}", name, std::strerror(errno));
    path = name;
}

TemporaryFolder::~TemporaryFolder() { formats::try_remove_tree(path); }

Comparison::Comparison(const Stretch& stretch, const std::vector<ChainLine>& chain) : stretch_(stretch) {
    for (const std::string& line : lines_of(stretch.run / "metrics.jsonl")) {
        const auto json = formats::ordered_json_or_null(line);  // null: not written to its end
        if (const auto step = json.find("step"); step != json.end() && step->is_number_unsigned())
            metrics_[step->get<std::size_t>()] = json;
    }
    for (const ChainLine& line : chain) chain_[line.step] = line;
}

void Comparison::begin(TrainingLoop& loop, const data::Tokenizer& tokenizer, std::size_t last) {
    tokenizer_ = &tokenizer, last_ = last, ended_ = false;
    if (loop.state().step == 0 && stretch_.from.empty() && !saved_) compare(loop);
}

void Comparison::evaluated(TrainingLoop& loop) {
    if (loop.state().step == 0) compare_metrics(loop);
}

void Comparison::step_done(TrainingLoop& loop) { compare(loop); }

void Comparison::compare(TrainingLoop& loop) {
    const std::size_t step = loop.state().step;
    compare_metrics(loop);
    if (result.problem.empty() && (chain_.contains(step) || step == stretch_.last)) compare_checkpoint(loop);
    ended_ = step >= last_;
}

void Comparison::compare_metrics(TrainingLoop& loop) {
    const auto recorded = metrics_.find(loop.metrics().step);
    if (recorded == metrics_.end()) return;
    const nlohmann::ordered_json here = json_of(loop.metrics());
    for (const char* const key : {"loss", "val_loss", "lr", "grad_norm"}) {
        const auto found = recorded->second.find(key);
        if (found == recorded->second.end() || !here.contains(key) || *found == here[key]) continue;
        return fail(loop, fmt::format("{} is {} in metrics.jsonl and {} here", key, found->dump(), here[key].dump()));
    }
    result.losses += here.contains("loss");
}

void Comparison::compare_checkpoint(TrainingLoop& loop) {
    saved_ = std::make_unique<TemporaryFolder>();
    TrainingStep& step = loop.step();
    TrainingState state = loop.state();
    state.spikes = step.spikes;
    SavedHashes saved;
    {
        const Averaged weights(step.average);
        saved = save_checkpoint(saved_->path, loop.model(), *tokenizer_, step.parameters, *step.optimizer, step.average,
                                state);
    }
    result.sha256 = saved.weights;
    const FileHashes hashes = hashes_of(saved_->path, saved);
    if (state.step == stretch_.last && !stretch_.to.empty())
        if (const std::string found = difference({stretch_.to, stretch_.files}, {saved_->path, hashes}); !found.empty())
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

void Comparison::fail(const TrainingLoop& loop, const std::string& what) {
    result.problem = fmt::format("step {}: {}", loop.state().step, what);
}

}  // namespace inkling::train
