#include "models/weight_files.h"

#include <nlohmann/json.hpp>

#include "data/json.h"
#include "engine/check.h"

namespace inkling::models {

namespace fs = std::filesystem;

WeightFiles WeightFiles::open(const fs::path& folder) {
    WeightFiles weights;
    weights.path = folder / "model.safetensors.index.json";
    if (!fs::exists(folder / "model.safetensors") && fs::exists(weights.path)) {
        weights.add_shards(folder);
        return weights;
    }
    weights.path = folder / "model.safetensors";
    auto& file = weights.files_[""];
    file = std::make_unique<SafetensorsFile>(SafetensorsFile::open(weights.path));
    for (const auto& [name, info] : file->tensors()) weights.tensors_.emplace(name, file.get());
    return weights;
}

void WeightFiles::add_shards(const fs::path& folder) {
    const std::string what = path.string();
    const auto index = data::parse_json(data::read_file(path), what, 16);
    const bool has_map = index.is_object() && index.contains("weight_map") && index["weight_map"].is_object();
    check<BadInput>(has_map, "{}: an object with a weight_map is required", what);
    for (const auto& [name, shard] : index["weight_map"].items()) {
        check<BadInput>(shard.is_string(), "{}: the file of {} must be a name, got {}", what, name, shard.dump());
        const std::string file_name = shard.get<std::string>();
        const fs::path plain(file_name);
        check<BadInput>(!file_name.empty() && plain.filename() == plain && file_name.ends_with(".safetensors"),
                        "{}: the file of {} must be a .safetensors file beside it, got '{}'", what, name, file_name);
        auto& file = files_[file_name];
        if (!file) file = std::make_unique<SafetensorsFile>(SafetensorsFile::open(folder / plain));
        check<BadInput>(file->contains(name), "{}: {} is not in {}", what, name, file_name);
        tensors_.emplace(name, file.get());
    }
}

std::uint64_t WeightFiles::numbers() const {
    std::uint64_t n = 0;
    for (const auto& [name, file] : tensors_) n += file->info(name).count;
    return n;
}

std::uint64_t WeightFiles::bytes() const {
    std::uint64_t n = 0;
    for (const auto& [name, file] : tensors_) n += file->info(name).end - file->info(name).begin;
    return n;
}

}  // namespace inkling::models
