#include "train/run/chain.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "engine/base/cpu.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "formats/sha256.h"
#include "train/loop.h"
#include "train/run/checkpoint.h"
#include "train/run/run_folder.h"
#include "train/settings/settings.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

fs::path file_of(const fs::path& run) { return run / "chain.jsonl"; }

std::string sha256_of(const std::string& text) { return formats::hex(formats::sha256(text)); }

std::string hash_of(const fs::path& file) {
    if (file.filename() == kStateFile) return state_sha256(file);
    if (file.filename() != "adapter_config.json") return file_sha256(file);
    auto config = formats::ordered_json_or_null(formats::read_file(file));
    if (config.is_object()) config.erase("base_model_name_or_path");
    return sha256_of(formats::json_text(config));
}

ChainSettings settings_of(const TrainOptions& options) {
    ChainSettings all;
    for (const Setting& s : settings())
        if ((!s.is(kMayChange) && !s.is(kOneStart) && !s.is(kTakesFile)) || s.name == "max-iters")
            all[s.key()] = s.text(options);
    return all;
}

}  // namespace

FileHashes hashes_of(const fs::path& checkpoint, const SavedHashes& known) {
    FileHashes hashes;
    for (const std::string& name : formats::names_in(checkpoint)) {
        const std::string hash = name.ends_with("model.safetensors") ? known.weights
                                 : name == kStateFile                ? known.state
                                                                     : "";
        hashes[name] = hash.empty() ? hash_of(checkpoint / name) : hash;
    }
    return hashes;
}

std::vector<ChainLine> read_chain(const fs::path& run) {
    std::vector<ChainLine> lines;
    ChainSettings settings;
    for (const std::string& text : lines_of(file_of(run))) {
        const nlohmann::json json = formats::json_or_null(text);
        try {
            ChainLine& line = lines.emplace_back();
            line.step = json.at("step"), line.text = json.at("text"), line.cpu = json.value("cpu", "");
            line.base = json.value("base", ""), line.teachers = json.value("teachers", "");
            for (const auto& [key, value] : json.value("settings", ChainSettings())) settings[key] = value;
            line.settings = settings;
            line.files = json.at("files").get<FileHashes>();
            line.before = json.at("before"), line.sha256 = sha256_of(text);
        } catch (const nlohmann::json::exception&) {
            throw BadInput(fmt::format("{}: line {}: not a line of a chain", file_of(run).string(), lines.size()));
        }
    }
    return lines;
}

std::vector<std::string> chain_problems(const fs::path& run, const std::map<std::size_t, FileHashes>& checkpoints) {
    std::vector<std::string> problems;
    std::vector<ChainLine> lines;
    try {
        lines = read_chain(run);
    } catch (const BadInput& e) {
        return {e.what()};
    }
    const auto add = [&](std::size_t step, const std::string& what) {
        problems.push_back(fmt::format("{}: step {}: {}", file_of(run).string(), step, what));
    };
    const ChainLine* last = nullptr;
    for (const ChainLine& line : lines) {
        if (line.before != (last ? last->sha256 : ""))
            add(line.step, "the line before it is not the one that it was written after");
        if (last && line.step <= last->step) add(line.step, "the line before it is of a later step");
        last = &line;
        const auto files = checkpoints.find(line.step);
        if (files == checkpoints.end()) continue;  // no longer kept
        for (const auto& [name, hash] : line.files)
            if (const auto found = files->second.find(name); found == files->second.end() || found->second != hash)
                add(line.step, name + " is not the one that was saved");
    }
    // older versions wrote no lines, and a run that was killed may have one too few
    for (const auto& [step, files] : checkpoints)
        if (last && step > lines.front().step && step < last->step &&
            std::ranges::count(lines, step, &ChainLine::step) == 0)
            add(step, "it has a checkpoint and no line");
    return problems;
}

ChainFile::ChainFile(const fs::path& run, const TrainingLoop& loop) : file_(file_of(run), loop.state().step) {
    std::vector<ChainLine> lines;
    try {
        lines = read_chain(run);
    } catch (const BadInput&) {  // `verify` names the line
    }
    if (!lines.empty()) before_ = lines.back().sha256, settings_ = lines.back().settings;
    const fs::path checkpoint = run / checkpoint_name(loop.state().step);
    if ((!lines.empty() && lines.back().step == loop.state().step) || !formats::is_there(checkpoint)) return;
    const TrainingState saved = stored_state(checkpoint);
    add(checkpoint, saved, parse_toml(saved.config, checkpoint.string(), UnknownKeys::passed_over).options);
}

void ChainFile::add(const fs::path& checkpoint, const TrainingState& state, const TrainOptions& options,
                    const SavedHashes& known) {
    nlohmann::ordered_json line = {{"step", state.step}, {"text", state.data_fingerprint}};
    if (!state.base_fingerprint.empty()) line["base"] = state.base_fingerprint;
    if (!state.teacher_fingerprint.empty()) line["teachers"] = state.teacher_fingerprint;
    if (options.precision == Precision::bf16) line["cpu"] = name_of(used_kind());
    for (const auto& [key, text] : settings_of(options)) {
        const auto before = settings_.find(key);
        if (before == settings_.end() || before->second != text) line["settings"][key] = settings_[key] = text;
    }
    line["files"] = hashes_of(checkpoint, known);
    line["before"] = before_;
    file_.write(line);
    before_ = sha256_of(formats::json_text(line));
}

}  // namespace inkling::train
