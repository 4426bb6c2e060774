// A file of a run with one JSON object per line, each with its "step": metrics.jsonl, samples.jsonl.
//   LinesFile file(folder / "samples.jsonl", loop.state().step);
//   file.write({{"step", 500}, {"text", text}});
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace inkling::train {

class LinesFile {
  public:
    // Opens for appending; a link or a device in its place becomes a regular file. Drops lines of steps after
    // `last_step`, which remain if the run got further than the checkpoint it resumes from, and lines without a step.
    LinesFile(const std::filesystem::path& path, std::size_t last_step);
    void write(const nlohmann::ordered_json& line);  // the line is in the file when this returns; throws Error

  private:
    std::filesystem::path path_;
    std::shared_ptr<std::FILE> file_;
};

}  // namespace inkling::train
