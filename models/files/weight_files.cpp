#include "models/files/weight_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/json.h"

namespace inkling::models {

namespace fs = std::filesystem;

WeightFiles WeightFiles::open(const fs::path& folder) {
    WeightFiles weights;
    if (formats::is_gguf(folder)) {
        weights.path = folder;
        weights.gguf_ = std::make_unique<formats::GgufFile>(formats::GgufFile::open(folder));
        return weights;
    }
    weights.path = folder / "model.safetensors.index.json";
    if (!formats::is_there(folder / "model.safetensors") && formats::is_there(weights.path)) {
        weights.add_shards(folder);
        return weights;
    }
    weights.path = folder / "model.safetensors";
    formats::refuse_other_form(weights.path, {"pytorch_model.bin", "pytorch_model.bin.index.json"},
                               "from transformers import AutoModelForCausalLM as M; "
                               "M.from_pretrained('{0}').save_pretrained('{0}')");
    const auto& file = weights.files_[""] = formats::SafetensorsFile::open(weights.path);
    for (const auto& [name, info] : file.tensors()) weights.file_of_.emplace(name, &file);
    return weights;
}

void WeightFiles::add_shards(const fs::path& folder) {
    const std::string what = path.string();
    const auto index = formats::parse_json(formats::read_file(path, formats::FileKind::json), what, 16);
    const bool has_map = index.is_object() && index.contains("weight_map") && index["weight_map"].is_object();
    check<BadInput>(has_map, "{}: an object with a weight_map is required", what);
    for (const auto& [name, shard] : index["weight_map"].items()) {
        check<BadInput>(shard.is_string(), "{}: the file of {} must be a name, got {}", what, shown_name(name),
                        formats::quote(shard));
        const std::string file_name = shard.get<std::string>();
        const fs::path plain(file_name);
        check<BadInput>(!file_name.empty() && plain.filename() == plain && file_name.ends_with(".safetensors"),
                        "{}: the file of {} must be a .safetensors file beside it, got '{}'", what, shown_name(name),
                        shown_name(file_name));
        const auto [found, is_new] = files_.try_emplace(file_name);
        formats::SafetensorsFile& file = found->second;
        if (is_new) file = formats::SafetensorsFile::open(folder / plain);
        check<BadInput>(file.contains(name), "{}: {} is not in {}", what, shown_name(name), shown_name(file_name));
        file_of_.emplace(file.info(name).name, &file);
    }
}

const formats::SafetensorsFile& WeightFiles::file_of(const std::string& name) const {
    const auto found = file_of_.find(name);
    check<BadInput>(found != file_of_.end(), "{}: {} is missing", path.string(), name);
    return *found->second;
}

WeightInfo WeightFiles::info(const std::string& name) const {
    if (!gguf_) {
        const formats::TensorInfo& t = file_of(name).info(name);
        return {name, formats::dtype_name(t.dtype), t.shape, t.count, t.end - t.begin};
    }
    const formats::GgufTensor& t = gguf_->tensor(name);
    return {name, t.layout->name, t.shape, t.count, t.bytes.size()};
}

std::uint64_t WeightFiles::read(const std::string& name, float* out, std::uint64_t count) const {
    return gguf_ ? gguf_->read(name, out, count) : file_of(name).read(name, out, count);
}

std::uint64_t WeightFiles::read(const std::string& name, BFloat16* out, std::uint64_t count) const {
    if (!gguf_) return file_of(name).read_bfloat16(name, reinterpret_cast<std::uint16_t*>(out), count);
    return gguf_->read(name, out, count);
}

void WeightFiles::release(const std::string& name) const {
    if (gguf_) return gguf_->release(gguf_->tensor(name), 0, info(name).count);
    const formats::SafetensorsFile& file = file_of(name);
    file.release(file.info(name));
}

std::uint64_t WeightFiles::bytes() const {
    std::uint64_t n = 0;
    each([&](const WeightInfo& info) { n += info.bytes; });
    return n;
}

std::string_view WeightFiles::type() const {
    std::map<std::string_view, std::uint64_t> counts;
    each([&](const WeightInfo& info) { counts[info.type] += info.count; });
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& x, const auto& y) { return x.second < y.second; });
    return most == counts.end() ? "F32" : most->first;
}

bool WeightFiles::quantized() const {
    std::uint64_t all = 0, in_blocks = 0;
    if (gguf_)
        for (const auto& [name, tensor] : gguf_->tensors())
            all += tensor.count, in_blocks += tensor.layout->block > 1 ? tensor.count : 0;
    return in_blocks > all / 2;
}

}  // namespace inkling::models
