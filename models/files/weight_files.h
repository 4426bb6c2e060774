// The tensors of a model: model.safetensors of its folder, the shards that model.safetensors.index.json lists there, or
// a GGUF file.
//   const auto weights = WeightFiles::open(folder);
//   weights.read("lm_head.weight", values.data(), values.size());
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "formats/gguf/gguf_file.h"
#include "formats/safetensors/safetensors.h"

namespace inkling::models {

class WeightFiles : public formats::TensorFile {
  public:
    // Throws BadInput without weights, and for a shard that is missing or lacks a tensor of the index.
    static WeightFiles open(const std::filesystem::path& path);

    std::uint64_t bytes() const;                                   // size of all tensors
    std::string_view type() const;                                 // type of most weights
    bool quantized() const;                                        // whether most weights are in GGUF's blocks
    const formats::GgufFile* gguf() const { return gguf_.get(); }  // null: safetensors

    const std::filesystem::path path;  // the file or the index, for messages

  private:
    explicit WeightFiles(const std::filesystem::path& p) : TensorFile(p.string()), path(p) {}
    void add_shards(const std::filesystem::path& folder);

    std::unique_ptr<formats::GgufFile> gguf_;  // the metadata
};

}  // namespace inkling::models
