// adapter_folder.h: what an adapter's folder says, by its adapter_config.json.
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/names.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/gguf/gguf_file.h"
#include "formats/json.h"
#include "models/families/config_reader.h"
#include "models/files/adapter_file.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "models/files/special_tokens.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Keys of adapter_config.json that say nothing about what an adapter computes: where it has its layers stands in the
// names of its tensors, and the rest is of how it was made.
constexpr std::string_view kWithoutEffect =
    " alpha_pattern rank_pattern "  // these two: AdapterPatterns
    "base_model_name_or_path eva_config exclude_modules fan_in_fan_out inference_mode layers_pattern "
    "layers_to_transform lora_alpha lora_dropout megatron_core peft_type peft_version qalora_group_size r revision "
    "runtime_config target_modules task_type use_rslora auto_mapping ";

bool is_neutral(const std::string& key, const json& value) {
    if (key == "bias") return value.is_null() || json("none") == value;
    if (key == "init_lora_weights")  // others change the model's own weights
        return !value.is_string() || json("gaussian") == value || json("orthogonal") == value || json("eva") == value;
    return value.is_null() || json(false) == value || (value.is_structured() && value.empty()) || json("") == value;
}

}  // namespace

bool is_adapter(const fs::path& folder) {
    return formats::is_there(folder / kAdapterConfig) && !formats::is_there(folder / "config.json");
}

AdapterOptions read_adapter_config(const fs::path& folder) {
    const json j = read_json(folder / kAdapterConfig);
    const ConfigReader in(j, (folder / kAdapterConfig).string());
    in.require_text("peft_type", "LORA");
    if (in.has("task_type")) in.require_text("task_type", "CAUSAL_LM");
    for (const auto& [key, value] : j.items()) {
        in.require(
            kWithoutEffect.find(" " + key + " ") != std::string_view::npos || is_neutral(key, value),
            "{} {} is not supported: merge the adapter into its model, by PEFT's merge_and_unload(), and use that",
            shown_name(key), formats::quote(value));
    }
    AdapterOptions options;
    options.rank = in.size("r", 8);
    options.alpha = in.number("lora_alpha", 8);
    options.dropout = in.number("lora_dropout", 0);
    in.require(options.dropout >= 0 && options.dropout < 1, "lora_dropout must be at least 0 and below 1, got {}",
               in.shown("lora_dropout"));
    options.rank_stabilized = in.flag("use_rslora", false);
    in.require(std::abs(options.scale()) < kLargestProduct,
               "lora_alpha {} is too large: text and losses would not be "
               "finite",
               in.shown("lora_alpha"));
    options.base = in.file_name("base_model_name_or_path");
    return options;
}

fs::path base_of_adapter(const fs::path& folder) {
    const json j = read_json(folder / kAdapterConfig);
    const std::string what = (folder / kAdapterConfig).string();
    const std::string base = ConfigReader(j, what).file_name("base_model_name_or_path");
    for (const fs::path& path : {fs::path(base), folder / base})
        if (!base.empty() && (formats::is_there(path / "config.json") || formats::is_gguf(path))) return path;
    throw BadInput(
        fmt::format("{}: the model of this adapter, '{}', is not there: name its folder with --model, and "
                    "the adapter's with --adapter{}",
                    what, shown_name(base), how_to_get(base)));
}

std::vector<fs::path> model_parts(const fs::path& path) {
    std::vector<fs::path> parts{path};
    if (is_adapter(path)) {
        const std::vector<fs::path> base = model_parts(base_of_adapter(path));
        parts.insert(parts.end(), base.begin(), base.end());
    }
    const std::string name = path.filename().string();
    const std::size_t first = name.find("-00001-of-");
    if (first == std::string::npos || !formats::is_gguf(path)) return parts;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    for (const std::string& other : formats::names_in(folder))
        if (other != name && other.starts_with(name.substr(0, first + 1))) parts.push_back(folder / other);
    return parts;
}

}  // namespace inkling::models
