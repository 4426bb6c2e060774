#include "models/files/weight_files.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/json.h"

namespace inkling::models {

namespace fs = std::filesystem;

WeightFiles WeightFiles::open(const fs::path& folder) {
    if (formats::is_gguf(folder)) {
        WeightFiles weights(folder);
        weights.gguf_ = std::make_unique<formats::GgufFile>(formats::GgufFile::open(folder));
        weights.tensors_ = weights.gguf_->tensors();
        return weights;
    }
    const fs::path one = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
    if (!formats::is_there(one) && formats::is_there(index)) {
        WeightFiles weights(index);
        weights.add_shards(folder);
        return weights;
    }
    formats::refuse_other_form(one, {"pytorch_model.bin", "pytorch_model.bin.index.json"},
                               "from transformers import AutoModelForCausalLM as M; "
                               "M.from_pretrained('{0}').save_pretrained('{0}')");
    WeightFiles weights(one);
    weights.tensors_ = formats::SafetensorsFile::open(one).tensors();
    return weights;
}

void WeightFiles::add_shards(const fs::path& folder) {
    const std::string what = path.string();
    const auto index = formats::parse_json(formats::read_file(path, formats::FileKind::json), what, 16);
    const bool has_map = index.is_object() && index.contains("weight_map") && index["weight_map"].is_object();
    check<BadInput>(has_map, "{}: an object with a weight_map is required", what);
    std::map<std::string, formats::SafetensorsFile> files;
    for (const auto& [name, shard] : index["weight_map"].items()) {
        check<BadInput>(shard.is_string(), "{}: the file of {} must be a name, got {}", what, shown_name(name),
                        formats::quote(shard));
        const std::string file_name = shard.get<std::string>();
        const fs::path plain(file_name);
        check<BadInput>(!file_name.empty() && plain.filename() == plain && file_name.ends_with(".safetensors"),
                        "{}: the file of {} must be a .safetensors file beside it, got '{}'", what, shown_name(name),
                        shown_name(file_name));
        if (!files.contains(file_name)) files.emplace(file_name, formats::SafetensorsFile::open(folder / plain));
        const formats::SafetensorsFile& file = files.at(file_name);
        check<BadInput>(file.contains(name), "{}: {} is not in {}", what, shown_name(name), shown_name(file_name));
        add_tensor(file.tensor(name));
    }
}

std::uint64_t WeightFiles::bytes() const {
    std::uint64_t n = 0;
    for (const auto& [name, tensor] : tensors_) n += tensor.bytes.size();
    return n;
}

std::string_view WeightFiles::type() const {
    std::map<std::string_view, std::uint64_t> counts;
    for (const auto& [name, tensor] : tensors_) counts[tensor.layout->name] += tensor.count;
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& x, const auto& y) { return x.second < y.second; });
    return most == counts.end() ? "F32" : most->first;
}

bool WeightFiles::quantized() const {
    std::uint64_t all = 0, in_blocks = 0;
    for (const auto& [name, tensor] : tensors_) {
        all += tensor.count;
        if (gguf_ && tensor.layout->block > 1) in_blocks += tensor.count;
    }
    return in_blocks > all / 2;
}

}  // namespace inkling::models
