#include "models/files/adapter_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/array/gemm.h"
#include "engine/base/half.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "models/families/family.h"
#include "models/files/adapter_config.h"
#include "models/files/folder.h"
#include "models/files/stored_weights.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kAdapterWeights = "adapter_model.safetensors";

// Its tensors, under the names of PEFT's save_pretrained. A state dict saved directly also has the adapter's name in
// each: lora_A.default.weight.
class AdapterFile : public formats::TensorFile {
  public:
    // Throws BadInput for a file without tensors, and for several adapters in one.
    explicit AdapterFile(const fs::path& file);

    Array<float> read(const std::string& name, const Shape& shape) const {  // BadInput: values that are not finite
        Array<float> values(shape);
        const std::uint64_t not_finite = tensor(name).read(values.data(), values.size());
        check<BadInput>(not_finite == 0, "{}: {} holds values that are not finite", path, name);
        return values;
    }

    const std::string path;
};

AdapterFile::AdapterFile(const fs::path& file) : TensorFile(file.string()), path(file.string()) {
    formats::refuse_other_form(file, {"adapter_model.bin"},
                               "import torch, safetensors.torch as s; s.save_file(torch.load('{0}/adapter_model.bin', "
                               "weights_only=True), '{0}/adapter_model.safetensors')");
    const auto whole = formats::SafetensorsFile::open(file);
    std::set<std::string> adapters;
    for (const auto& [stored, tensor] : whole.tensors()) {
        std::string name = stored;
        for (const std::string matrix : {".lora_A", ".lora_B", ".lora_embedding_A", ".lora_embedding_B"}) {
            const std::size_t at = stored.find(matrix + ".");
            if (at == std::string::npos) continue;
            const std::size_t end = at + matrix.size(), tail = stored.ends_with(".weight") ? 7 : 0;
            name = stored.substr(0, end) + stored.substr(stored.size() - tail);
            adapters.insert(stored.substr(end, stored.size() - tail - end));
        }
        tensors_.emplace(name, tensor);
    }
    check<BadInput>(adapters.size() <= 1 && tensors_.size() == whole.tensors().size(),
                    "{}: holds several adapters: save one of them", path);
    check<BadInput>(!tensors_.empty(), "{}: holds no tensors", path);
}

constexpr const char* kPrefix = "base_model.model.";

bool rows_by_head(const Architecture& a, const ParameterSpec& p) {  // of B: they are those of the layer
    return family(a.family).qkv_by_head && p.name == ParameterName::query_key_value && p.slot != Slot::lora_a;
}

std::string stored_name(const Architecture& a, const ParameterSpec& p) { return kPrefix + family(a.family).name_of(p); }

struct StoredMatrix {
    std::string name;
    Shape shape;
};

// A and B of a weight. Those of the token table, of which PEFT has A^T B^T added, are (r, V) and (C, r).
std::array<StoredMatrix, 2> stored_adapter(const Architecture& a, const ParameterSpec& p, std::size_t r) {
    if (p.name == ParameterName::token_table) {
        const std::string start = kPrefix + family(a.family).layer_of(p) + ".lora_embedding_";
        return {{{start + "A", {r, p.shape[0]}}, {start + "B", {p.shape[1], r}}}};
    }
    const auto [low, high] = adapter_parameters(p, r);
    return {{{stored_name(a, low), low.shape}, {stored_name(a, high), high.shape}}};
}

bool may_have_adapter(const ParameterSpec& p) { return may_be_adapted(p) || p.name == ParameterName::token_table; }

// The weight of a table or a head that is adapted, or was made larger: PEFT writes it beside the adapter.
std::string base_name(const Architecture& a, const ParameterSpec& p, const AdapterFile& file) {
    if (p.name != ParameterName::token_table && p.name != ParameterName::head) return "";
    for (const char* const end : {".base_layer.weight", ".weight"})
        if (const std::string name = kPrefix + family(a.family).layer_of(p) + end; file.contains(name)) return name;
    return "";
}

// Collects all tensors of the file that do not fit the model.
std::string adapter_misfits(const Architecture& a, const AdapterFile& file, const AdapterPatterns& patterns) {
    std::string problems;
    std::set<std::string> known;
    const auto compare = [&](const std::string& name, const Shape& wanted) {
        known.insert(name);
        const auto& found = file.tensor(name).shape;
        if (const Shape shape(found.begin(), found.end()); shape != wanted)
            problems += fmt::format("; {} has shape {} where {} is wanted", name, shape, wanted);
    };
    for (const ParameterSpec& p : parameters(a)) {
        if (!may_have_adapter(p)) continue;
        const auto matrices = stored_adapter(a, p, patterns.of(family(a.family).layer_of(p)).rank);
        for (std::size_t i : {0, 1}) {
            if (file.contains(matrices[i].name))
                compare(matrices[i].name, matrices[i].shape);
            else if (file.contains(matrices[1 - i].name))
                problems += fmt::format("; {} is missing", matrices[i].name);
        }
        if (const std::string base = base_name(a, p, file); !base.empty()) compare(base, p.shape);
    }
    for (const auto& [name, tensor] : file.tensors())
        if (!known.contains(name)) problems += fmt::format("; {} is not known", shown_name(tensor.name));
    return shorten_list(std::move(problems));
}

// The files of an adapter that fits a model of this architecture.
struct AdapterFiles {
    AdapterFiles(const fs::path& folder, const Architecture& model)
        : options(read_adapter_config(folder)),
          file(folder / kAdapterWeights),
          patterns(folder / kAdapterConfig, options),
          config(model) {
        config.tied_head = false;
        const std::string problems = adapter_misfits(config, file, patterns);
        check<BadInput>(problems.empty(), "{}: the adapter does not fit the model{}", file.path, problems);
    }
    LayerSize size_of(const ParameterSpec& p) const { return patterns.of(family(config.family).layer_of(p)); }

    const AdapterOptions options;
    const AdapterFile file;
    const AdapterPatterns patterns;
    Architecture config;  // with a head of its own, which may be adapted
};

// Whether the file's values of a weight equal the model's, up to rounding of both.
bool is_same(const Weight<float>& weight, Array<float> values, std::string_view stored) {
    if (weight.packed()) values = Weight(Tensor<float>(values)).as(weight.packed()->type()).values().clone();
    const ConstArray<float> own = weight.values();
    const auto rounded = [&](float x) {
        return stored == "BF16" ? widen(round_to_bfloat16(x)) : stored == "F16" ? f16_to_f32(f32_to_f16(x)) : x;
    };
    return std::equal(own.data(), own.data() + own.size(), values.data(),
                      [&](float x, float y) { return x == y || rounded(x) == y; });
}

double largest(const Array<float>& x) {
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(static_cast<double>(x.data()[i])));
    return most;
}

// A head of its own in place of the token table, which an adapter changes alone.
void untie_head(Transformer<float>& model) {
    const Weight<float>& table = model.outer[ParameterName::token_table].weight;
    if (table.defined())
        model.outer[ParameterName::head].weight = table.packed() ? table : Weight(Tensor<float>(table.value().clone()));
    model.config.tied_head = false;
}

}  // namespace

AdapterHeader read_adapter_header(const fs::path& folder, Architecture& config) {
    const AdapterFiles files(folder, config);
    AdapterHeader header{.options = files.options};
    std::set<std::pair<ParameterName, std::size_t>> adapted;
    for (const ParameterSpec& p : parameters(files.config)) {
        if (!may_have_adapter(p)) continue;
        const auto [first, second] = stored_adapter(files.config, p, files.size_of(p).rank);
        if (!files.file.contains(first.name)) continue;
        if (p.name == ParameterName::token_table || p.name == ParameterName::head) config.tied_head = false;
        if (p.name == ParameterName::token_table) continue;  // merged
        adapted.emplace(p.name, p.layer);
        header.parameters += inkling::size_of(first.shape) + inkling::size_of(second.shape);
    }
    header.adapted = [adapted](const ParameterSpec& p) {
        return may_be_adapted(p) && adapted.contains({p.name, p.layer});
    };
    return header;
}

void load_adapter(const fs::path& folder, Transformer<float>& model) {
    const AdapterFiles files(folder, model.config);
    const AdapterFile& file = files.file;
    const AdapterOptions& options = files.options;
    const Architecture& a = files.config;
    check<BadInput>(!model.adapter.changes_tables, "{}: the model has another adapter, in its tables: load it again",
                    file.path);
    model.adapt(options, nullptr, std::nullopt);
    for (const ParameterSpec& p : parameters(a)) {
        if (!may_have_adapter(p)) continue;
        const auto own = [&]() -> Weight<float> {
            const Weight<float> weight = p.name == ParameterName::head ? model.head().weight : model.at(p);
            return weight.defined() ? weight : Weight<float>(Tensor<float>(model.values(p)));
        };
        const std::string base = base_name(a, p, file);
        check<BadInput>(base.empty() || is_same(own(), file.read(base, p.shape), file.tensor(base).layout->name),
                        "{}: {} differs from the model's own: this is the adapter of another model", file.path, base);
        const LayerSize size = files.size_of(p);
        const auto [first, second] = stored_adapter(a, p, size.rank);
        if (!file.contains(first.name)) continue;
        const bool table = p.name == ParameterName::token_table;
        if (model.config.tied_head && (table || p.name == ParameterName::head)) {
            untie_head(model);
            model.adapter.changes_tables = true;
        }
        const Array<float> low = file.read(first.name, first.shape), b = file.read(second.name, second.shape);
        const double scale = options.scale(size.rank, size.alpha),
                     bound = std::abs(scale) * static_cast<double>(size.rank) * largest(low) * largest(b);
        check<BadInput>(bound < kLargestProduct,
                        "{}: {} with its B makes weights of up to {:.1e}: text and losses would "
                        "not be finite",
                        file.path, first.name, bound);
        Weights<float>& w = model.weights_of(p);
        if (table) {  // merged: it is looked up, not multiplied with
            Array<float> rows = low.transposed(0, 1).clone(), sum = model.values(p).clone();
            rows *= static_cast<float>(scale);
            gemm(rows, b.transposed(0, 1).clone(), sum, {.accumulate = true});
            w.weight = Tensor<float>(sum);
            model.adapter.changes_tables = true;
            continue;
        }
        if (size.alpha != options.alpha) w.lora_alpha = size.alpha;
        w.lora_a = Tensor<float>(low, true);
        w.lora_b = Tensor<float>(rows_by_head(a, p) ? swap_rows<float>(b, 1, a.n_head, 3) : b, true);
    }
}

void save_adapter(const fs::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer,
                  formats::Sha256* hash) {
    const Architecture& a = model.config;
    const AdapterOptions& options = model.adapter;
    check(!options.changes_tables, "save_adapter: {}", kTablesChanged);
    const auto adapted = [&](const ParameterSpec& p) { return model.has_adapter(p); };
    const auto number = [](double x) {
        return x == std::floor(x) && std::abs(x) < 1e9 ? json(static_cast<std::int64_t>(x)) : json(x);
    };
    json config = {{"peft_type", "LORA"},
                   {"task_type", "CAUSAL_LM"},
                   {"base_model_name_or_path", options.base},
                   {"r", options.rank},
                   {"lora_alpha", number(options.alpha)},
                   {"lora_dropout", options.dropout},
                   {"use_rslora", options.rank_stabilized},
                   {"target_modules", target_names(a, adapted)},
                   {"fan_in_fan_out", family(a.family).linear_in_out},
                   {"bias", "none"},
                   {"modules_to_save", nullptr},
                   {"inference_mode", true}};
    for (const ParameterSpec& p : parameters(a)) {
        if (!adapted(p)) continue;
        const Weights<float>& w = model.weights_of(p);
        const std::string layer = family(a.family).layer_of(p);
        if (const std::size_t r = w.lora_a.dim(0); r != options.rank) config["rank_pattern"][layer] = r;
        if (w.lora_alpha) config["alpha_pattern"][layer] = number(*w.lora_alpha);
    }
    formats::write_file_atomic(folder / kAdapterConfig, formats::json_text(config, 2) + "\n");
    save_tokenizer(folder, a, tokenizer);

    formats::SafetensorsWriter out;
    out.set_metadata("format", "pt");
    for (const ParameterSpec& p : model.specs()) {
        if (!is_lora(p)) continue;
        out.add_rounded(stored_name(a, p), formats::DType::F32, {p.shape[0], p.shape[1]}, [&, p](const auto& part) {
            const ConstArray<float>& x = model.at(p).value();
            part(rows_by_head(a, p) ? ConstArray<float>(swap_rows(x, 1, 3, a.n_head)) : x);
        });
    }
    out.write(folder / kAdapterWeights, hash);
}

}  // namespace inkling::models
