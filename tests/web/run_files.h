// Writes folders that look like runs.
//   const RunFiles run("mine");
//   run.metrics({{{"step", 1}, {"loss", 2.5}}});
#pragma once

#include "train/settings/settings.h"

namespace inkling::testing {

struct RunFiles {
    ScratchFolder folder;
    std::string path;

    explicit RunFiles(const std::string& name = "mine") : path(folder.path(name)) {
        fs::create_directory(path);
        train::TrainOptions options;
        options.batch_size = 4, options.block_size = 8;
        write("config.toml", train::to_toml(options));
    }
    void write(const std::string& name, const std::string& text) const {
        formats::write_file_atomic(path + "/" + name, text);
    }
    void append(const std::string& name, const std::string& text) const {
        std::FILE* const file = std::fopen((path + "/" + name).c_str(), "a");
        std::fputs(text.c_str(), file);
        std::fclose(file);
    }
    void metrics(const std::vector<nlohmann::ordered_json>& lines) const {
        std::string text;
        for (const auto& line : lines) text += line.dump() + "\n";
        write("metrics.jsonl", text);
    }
};

}  // namespace inkling::testing
