#include "models/adapter_folder.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/names.h"
#include "formats/file.h"
#include "formats/safetensors.h"
#include "formats/safetensors_header.h"
#include "models/families/config_reader.h"
#include "models/families/family.h"
#include "models/folder.h"
#include "models/special_tokens.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char *kAdapterConfig = "adapter_config.json", *kAdapterWeights = "adapter_model.safetensors";

// Keys of adapter_config.json that say nothing about what an adapter computes: where it has its layers stands in the
// names of its tensors, and the rest is of how it was made.
const std::set<std::string> kWithoutEffect = {"base_model_name_or_path",
                                              "eva_config",
                                              "exclude_modules",
                                              "fan_in_fan_out",
                                              "inference_mode",
                                              "layers_pattern",
                                              "layers_to_transform",
                                              "lora_alpha",
                                              "lora_dropout",
                                              "megatron_core",
                                              "peft_type",
                                              "peft_version",
                                              "qalora_group_size",
                                              "r",
                                              "revision",
                                              "runtime_config",
                                              "target_modules",
                                              "task_type",
                                              "use_rslora",
                                              "auto_mapping"};

bool is_neutral(const std::string& key, const json& value) {
    if (key == "bias") return value.is_null() || json("none") == value;
    if (key == "init_lora_weights")  // others change the model's own weights
        return !value.is_string() || json("gaussian") == value || json("orthogonal") == value || json("eva") == value;
    return value.is_null() || json(false) == value || (value.is_structured() && value.empty()) || json("") == value;
}

json adapter_json(const fs::path& folder) {
    const fs::path path = folder / kAdapterConfig;
    json j = read_json(path);
    check<BadInput>(j.is_object(), "{}: a JSON object is required", path.string());
    return j;
}

std::string stored_name(const Architecture& a, const Parameter& p, const char* matrix) {
    return fmt::format("base_model.model.{}.lora_{}.weight", layer_name(a, p), matrix);
}

bool swaps_rows(const Architecture& a, const Parameter& p) {  // of B: they are those of the layer
    return family(a.family).qkv_by_head && p.part == Part::query_key_value;
}

// The rows of B, (from0, from1, d, r) in memory, in the order (from1, from0, d, r).
Array<float> rows_swapped(const ConstArray<float>& b, std::size_t from0, std::size_t from1) {
    const std::size_t d = b.dim(0) / (from0 * from1), r = b.dim(1);
    return b.reshaped({from0, from1, d, r}).transposed(0, 1).clone().reshaped(b.shape());
}

// What the file has that the model does not fit, all at once.
std::string adapter_misfits(const Architecture& a, const formats::SafetensorsFile& file, std::size_t r) {
    std::string problems;
    std::set<std::string> known;
    for (const Parameter& p : parameters(a)) {
        if (!may_be_adapted(p)) continue;
        const std::string name[] = {stored_name(a, p, "A"), stored_name(a, p, "B")};
        const std::vector<std::uint64_t> shape[] = {{r, p.shape[1]}, {p.shape[0], r}};
        for (int i : {0, 1}) {
            known.insert(name[i]);
            if (!file.contains(name[i])) {
                if (file.contains(name[1 - i])) problems += fmt::format("; {} is missing", name[i]);
            } else if (const auto& found = file.info(name[i]).shape; found != shape[i]) {
                problems += fmt::format("; {} has shape {} where ({}, {}) is wanted", name[i],
                                        to_string(Shape(found.begin(), found.end())), shape[i][0], shape[i][1]);
            }
        }
    }
    for (const auto& [name, info] : file.tensors())
        if (!known.contains(name)) problems += fmt::format("; {} is not known", shown_name(name));
    constexpr std::size_t most = 4000;
    if (problems.size() > most) problems = problems.substr(0, problems.rfind("; ", most)) + "; and more";
    return problems;
}

}  // namespace

bool is_adapter(const fs::path& folder) {
    return formats::is_there(folder / kAdapterConfig) && !formats::is_there(folder / "config.json");
}

AdapterOptions read_adapter_config(const fs::path& folder) {
    const json j = adapter_json(folder);
    const ConfigReader in(j, (folder / kAdapterConfig).string());
    in.require_text("peft_type", "LORA");
    if (in.has("task_type")) in.require_text("task_type", "CAUSAL_LM");
    for (const auto& [key, value] : j.items()) {
        in.require(kWithoutEffect.contains(key) || is_neutral(key, value), "{} {} is not supported: leave it out",
                   shown_name(key), data::quote(value));
    }
    AdapterOptions options;
    options.rank = in.size("r", 8);
    options.alpha = in.number("lora_alpha", 8);
    options.dropout = in.number("lora_dropout", 0);
    in.require(options.dropout >= 0 && options.dropout < 1, "lora_dropout must be at least 0 and below 1, got {}",
               in.shown("lora_dropout"));
    options.rank_stabilized = in.flag("use_rslora", false);
    options.base = in.text("base_model_name_or_path", "");
    return options;
}

fs::path base_of_adapter(const fs::path& folder) {
    const json j = adapter_json(folder);
    const std::string what = (folder / kAdapterConfig).string();
    const std::string base = ConfigReader(j, what).text("base_model_name_or_path", "");
    for (const fs::path& path : {fs::path(base), folder / base})
        if (!base.empty() && formats::is_there(path / "config.json")) return path;
    throw BadInput(
        fmt::format("{}: the model of this adapter, '{}', is not there: name its folder with --model, and "
                    "the adapter's with --adapter",
                    what, shown_name(base)));
}

void load_adapter(const fs::path& folder, Transformer<float>& model) {
    AdapterOptions options = read_adapter_config(folder);
    const Architecture& a = model.config;
    const auto file = formats::SafetensorsFile::open(folder / kAdapterWeights);
    const std::string what = (folder / kAdapterWeights).string();
    const std::string problems = adapter_misfits(a, file, options.rank);
    check<BadInput>(problems.empty(), "{}: the adapter does not fit the model{}", what, problems);
    check<BadInput>(!file.tensors().empty(), "{}: holds no tensors", what);
    model.adapt(options, nullptr, std::nullopt);
    for (const Parameter& p : parameters(a)) {
        if (!may_be_adapted(p) || !file.contains(stored_name(a, p, "A"))) continue;
        const auto read = [&](const std::string& name, const Shape& shape) {
            Array<float> values(shape);
            const std::uint64_t not_finite = file.read(name, values.data(), values.size());
            check<BadInput>(not_finite == 0, "{}: {} holds values that are not finite", what, name);
            return values;
        };
        Weights<Tensor<float>>& w = model.weights_of(p);
        w.lora_a = Tensor<float>(read(stored_name(a, p, "A"), {options.rank, p.shape[1]}), true);
        const Array<float> b = read(stored_name(a, p, "B"), {p.shape[0], options.rank});
        w.lora_b = Tensor<float>(swaps_rows(a, p) ? rows_swapped(b, a.n_head, 3) : b, true);
    }
}

void save_adapter(const fs::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer) {
    const Architecture& a = model.config;
    const AdapterOptions& options = model.adapter;
    const auto adapted = [&](const Parameter& p) { return model.has_adapter(p); };
    const bool whole = options.alpha == std::floor(options.alpha) && std::abs(options.alpha) < 1e9;
    const json config = {{"peft_type", "LORA"},
                         {"task_type", "CAUSAL_LM"},
                         {"base_model_name_or_path", options.base},
                         {"r", options.rank},
                         {"lora_alpha", whole ? json(static_cast<std::int64_t>(options.alpha)) : json(options.alpha)},
                         {"lora_dropout", options.dropout},
                         {"use_rslora", options.rank_stabilized},
                         {"target_modules", target_names(a, adapted)},
                         {"fan_in_fan_out", family(a.family).linear_in_out},
                         {"bias", "none"},
                         {"modules_to_save", nullptr},
                         {"inference_mode", true}};
    formats::write_file_atomic(folder / kAdapterConfig, config.dump(2) + "\n");
    save_tokenizer(folder, a, tokenizer);

    formats::SafetensorsWriter out;
    out.set_metadata("format", "pt");
    std::list<Array<float>> made;  // kept until write()
    for (const Parameter& p : parameters(a)) {
        if (!adapted(p)) continue;
        const Weights<Tensor<float>>& w = model.weights_of(p);
        const ConstArray<float>&low = w.lora_a.value(), &b = w.lora_b.value();
        const float* const rows = swaps_rows(a, p) ? made.emplace_back(rows_swapped(b, 3, a.n_head)).data() : b.data();
        out.add(stored_name(a, p, "A"), formats::DType::F32, {low.dim(0), low.dim(1)}, low.data());
        out.add(stored_name(a, p, "B"), formats::DType::F32, {b.dim(0), b.dim(1)}, rows);
    }
    out.write(folder / kAdapterWeights);
}

}  // namespace inkling::models
