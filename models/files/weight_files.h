// The tensors of a model: model.safetensors of its folder, the shards that model.safetensors.index.json lists there, or
// a GGUF file.
//   const auto weights = WeightFiles::open(folder);
//   weights.read("lm_head.weight", values.data(), values.size());
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array/bfloat16.h"
#include "formats/gguf/gguf_file.h"
#include "formats/safetensors/safetensors.h"

namespace inkling::models {

struct WeightInfo {
    std::string name;
    std::string_view type;  // the format's name: F32, BF16, Q4_K
    std::vector<std::uint64_t> shape;
    std::uint64_t count, bytes;
};

class WeightFiles {
  public:
    // Throws BadInput without weights, and for a shard that is missing or lacks a tensor of the index.
    static WeightFiles open(const std::filesystem::path& path);

    bool contains(const std::string& name) const { return gguf_ ? gguf_->contains(name) : file_of_.contains(name); }
    WeightInfo info(const std::string& name) const;  // BadInput if missing
    // Returns the number of values that are not finite, like SafetensorsFile::read.
    std::uint64_t read(const std::string& name, float* out, std::uint64_t count) const;
    // Rounded to nearest; from safetensors only tensors stored as bfloat16.
    std::uint64_t read(const std::string& name, BFloat16* out, std::uint64_t count) const;
    // Frees the memory of a tensor's file pages; it may be read again.
    void release(const std::string& name) const;
    template <class Visit>
    void each(const Visit& visit) const {  // visit(WeightInfo) for every tensor
        for (const auto& [name, file] : file_of_) visit(info(std::string(name)));
        if (gguf_)
            for (const auto& [name, tensor] : gguf_->tensors()) visit(info(name));
    }
    std::uint64_t bytes() const;                                   // size of all tensors
    std::string_view type() const;                                 // type of most weights
    bool quantized() const;                                        // whether most weights are in GGUF's blocks
    const formats::GgufFile* gguf() const { return gguf_.get(); }  // null: safetensors

    std::filesystem::path path;  // the file or the index, for messages

  private:
    void add_shards(const std::filesystem::path& folder);
    const formats::SafetensorsFile& file_of(const std::string& name) const;  // BadInput without the tensor

    std::map<std::string, formats::SafetensorsFile> files_;                // by name
    std::map<std::string_view, const formats::SafetensorsFile*> file_of_;  // by tensor, with the file's own name
    std::unique_ptr<formats::GgufFile> gguf_;                              // set, or files_
};

}  // namespace inkling::models
