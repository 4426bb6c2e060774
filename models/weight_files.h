// The tensors of a model folder: model.safetensors, or the shards that model.safetensors.index.json lists.
//   const auto weights = WeightFiles::open(folder);
//   weights.read("lm_head.weight", values.data(), values.size());
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "models/safetensors.h"

namespace inkling::models {

class WeightFiles {
  public:
    // Throws BadInput when there is neither, and when a shard is missing or lacks a tensor that the index promises.
    static WeightFiles open(const std::filesystem::path& folder);

    const std::map<std::string, const SafetensorsFile*>& tensors() const { return tensors_; }
    bool contains(const std::string& name) const { return tensors_.contains(name); }
    const TensorInfo& info(const std::string& name) const { return tensors_.at(name)->info(name); }
    void read(const std::string& name, float* out, std::uint64_t count) const {
        tensors_.at(name)->read(name, out, count);
    }
    std::uint64_t numbers() const;  // elements of all tensors
    std::uint64_t bytes() const;    // that they take

    std::filesystem::path path;  // of the file, or of the index: for messages

  private:
    void add_shards(const std::filesystem::path& folder);

    std::map<std::string, std::unique_ptr<SafetensorsFile>> files_;
    std::map<std::string, const SafetensorsFile*> tensors_;
};

}  // namespace inkling::models
