// Checkpoints for tests of folders, and their files without what clocks say:
//   CHECK(differences(timeless_files(a), timeless_files(b)) == "");
#pragma once

#include "formats/safetensors/safetensors.h"
#include "train/run/run_folder.h"

namespace inkling::testing {

inline constexpr double kNotEvaluated = std::numeric_limits<double>::infinity();

// Writes the file that makes a folder a checkpoint; an older version kept only the best loss until then.
inline void write_state(const std::filesystem::path& folder, double val_loss, bool older = false) {
    formats::SafetensorsWriter state;
    state.set_metadata("format", "1");
    for (const char* key : {"step", "train_s", "elapsed_s", "data_fingerprint", "config"}) state.set_metadata(key, "0");
    state.set_metadata("best_val_loss", fmt::format("{}", val_loss));
    if (!older) state.set_metadata("val_loss", fmt::format("{}", val_loss));
    state.write(folder / "training_state.safetensors");
}

inline void write_in(const fs::path& folder, const std::string& text) { std::ofstream(folder / "file") << text; }

// Saves a checkpoint with a validation loss; infinity if not evaluated.
inline fs::path save_in(train::RunFolder& folder, std::size_t step, double val_loss = kNotEvaluated,
                        const std::string& text = "x") {
    return folder.save(step, [&](const fs::path& p) {
        write_in(p, text);
        write_state(p, val_loss);
    });
}

// A file without the values from clocks, nor the plan, which a run that stopped makes anew.
inline std::string timeless(const std::filesystem::path& file) {
    std::string text;
    if (file.filename() == "metrics.jsonl") {
        for (nlohmann::ordered_json json : lines_in(file)) {
            for (const char* key : {"tok_s", "train_s", "elapsed_s"}) json.erase(key);
            text += json.dump() + "\n";
        }
    } else if (file.filename() == "training_state.safetensors") {
        const auto state = formats::SafetensorsFile::open(file);
        for (const auto& [key, value] : state.metadata())
            if (key != "train_s" && key != "elapsed_s" && key != "checksum" && key != "config")
                text += key + "=" + value + "\n";
        for (const auto& [name, t] : state.tensors())
            text += name + std::string(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
    } else {
        text = formats::read_file(file);
    }
    return text;
}

// All files by name, and the targets of links.
inline std::map<std::string, std::string> timeless_files(const std::filesystem::path& folder) {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().lexically_relative(folder).string();
        if (entry.is_symlink()) result[name] = "-> " + std::filesystem::read_symlink(entry.path()).string();
        if (!entry.is_symlink() && entry.is_regular_file()) result[name] = timeless(entry.path());
    }
    return result;
}

// The names of files that differ between two folders, or that only one folder has.
inline std::string differences(const std::map<std::string, std::string>& a, std::map<std::string, std::string> b) {
    for (const auto& [name, bytes] : a)
        if (const auto [there, missing] = b.try_emplace(name, "missing"); there->second == bytes) b.erase(there);
    std::string text;
    for (const auto& [name, bytes] : b) text += name + " ";
    return text;
}

}  // namespace inkling::testing
