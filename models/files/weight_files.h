// The tensors of a model folder: model.safetensors, or the shards that model.safetensors.index.json lists.
//   const auto weights = WeightFiles::open(folder);
//   weights.read("lm_head.weight", values.data(), values.size());
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "engine/array/bfloat16.h"
#include "formats/safetensors/safetensors.h"

namespace inkling::models {

class WeightFiles {
  public:
    // Throws BadInput when there is neither, and when a shard is missing or lacks a tensor that the index promises.
    static WeightFiles open(const std::filesystem::path& folder);

    bool contains(const std::string& name) const { return holder(name) != nullptr; }
    const formats::TensorInfo& info(const std::string& name) const;  // BadInput when there is none
    // As SafetensorsFile::read: how many are not finite.
    std::uint64_t read(const std::string& name, float* out, std::uint64_t count) const;
    std::uint64_t read(const std::string& name, BFloat16* out, std::uint64_t count) const;  // of a tensor stored so
    // Gives the memory back that holds what was read of a tensor; it may be read again.
    void release(const std::string& name) const;
    template <class Visit>
    void each(const Visit& visit) const {  // visit(TensorInfo), of every tensor
        if (single_)
            for (const auto& [name, info] : single_->tensors()) visit(info);
        for (const auto& [name, shard] : shard_of_) visit(shard->info(name));
    }
    std::uint64_t bytes() const;  // of all tensors
    formats::DType type() const;  // of most of their numbers

    std::filesystem::path path;  // of the file, or of the index: for messages

  private:
    void add_shards(const std::filesystem::path& folder);
    const formats::SafetensorsFile* holder(const std::string& name) const;  // null: there is no such tensor
    const formats::SafetensorsFile& owner(const std::string& name) const;   // BadInput then

    std::unique_ptr<formats::SafetensorsFile> single_;  // or else:
    std::map<std::string, std::unique_ptr<formats::SafetensorsFile>> shards_;
    std::map<std::string, const formats::SafetensorsFile*> shard_of_;  // by tensor
};

}  // namespace inkling::models
