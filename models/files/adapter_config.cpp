#include "models/files/adapter_config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/names.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/gguf/gguf_file.h"
#include "formats/json.h"
#include "formats/named.h"
#include "models/families/config_keys.h"
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
    if (const json* const base = in.find("base_model_name_or_path"))
        options.base = formats::file_name(*base).value_or("");
    return options;
}

fs::path find_adapter(const std::string& flag, const fs::path& path) {
    const fs::path folder = find_model(path);
    check<BadInput>(is_adapter(folder), "{} {}: not an adapter: it has no adapter_config.json", flag, path.string());
    return folder;
}

fs::path base_of_adapter(const fs::path& folder) {
    if (!is_adapter(folder)) return folder;
    const std::string base = read_adapter_config(folder).base;
    for (const fs::path& path : {fs::path(base), folder / base})
        if (!base.empty() && (formats::is_there(path / "config.json") || formats::is_gguf(path))) return path;
    throw BadInput(
        fmt::format("{}: the model of this adapter, '{}', is not there: name its folder with --model, and "
                    "the adapter's with --adapter{}",
                    (folder / kAdapterConfig).string(), shown_name(base), how_to_get(base)));
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

AdapterPatterns::AdapterPatterns(const std::filesystem::path& config, const AdapterOptions& options)
    : options_(options) {
    // in the file's order, which decides
    const auto all = formats::ordered_json_or_null(formats::read_file(config, formats::FileKind::json));
    const auto patterns = [&](const char* key, const std::string& required, bool (*is_good)(double)) {
        std::vector<Pattern> found;
        const auto object = all.is_object() ? all.find(key) : all.end();
        if (object == all.end() || object->is_null()) return found;
        check<BadInput>(object->is_object(), "{}: {} must be an object, got {}", config.string(), key,
                        formats::quote(nlohmann::json(*object)));
        for (const auto& pattern : object->items()) {
            const nlohmann::json value(pattern.value());
            const double number = value.is_number() ? value.get<double>() : NAN;
            formats::named(fmt::format("{}: {}: {}", config.string(), key, shown_name(pattern.key())), [&] {
                found.emplace_back(data::Regex("^(.*\\.)?(" + pattern.key() + ")$", data::Regex::Steps::counted),
                                   number);
                check<BadInput>(is_good(number), "expected {}, got {}", required, formats::quote(value));
            });
        }
        return found;
    };
    ranks_ = patterns("rank_pattern", "a whole number of at least 1",
                      [](double rank) { return rank >= 1 && rank <= 1 << 30 && rank == std::floor(rank); });
    alphas_ = patterns("alpha_pattern", fmt::format("a number below {:.0e}", kLargestProduct),
                       [](double alpha) { return std::abs(alpha) < kLargestProduct; });
}

LayerSize AdapterPatterns::of(const std::string& layer) const {
    constexpr std::uint64_t kSteps = 100'000;
    const auto first = [&](const std::vector<Pattern>& patterns, double otherwise) {
        for (const auto& [regex, value] : patterns) {
            data::Regex::Scan scan(regex);
            scan.allow(kSteps);
            if (scan.find(layer, 0)) return value;
        }
        return otherwise;
    };
    return {static_cast<std::size_t>(first(ranks_, static_cast<double>(options_.rank))),
            first(alphas_, options_.alpha)};
}

}  // namespace inkling::models
