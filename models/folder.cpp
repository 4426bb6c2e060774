#include "models/folder.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <nlohmann/json.hpp>

#include "data/file.h"
#include "data/json.h"
#include "data/tokenizer_json.h"
#include "models/safetensors.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool is_conv1d(const std::string& name) {  // GPT-2's linear layers, stored (in, out)
    return name.ends_with("c_attn.weight") || name.ends_with("c_proj.weight") || name.ends_with("c_fc.weight");
}

std::vector<std::uint64_t> stored_shape(const std::string& name, const Shape& shape) {
    std::vector<std::uint64_t> result(shape.begin(), shape.end());
    if (is_conv1d(name)) std::reverse(result.begin(), result.end());
    return result;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) { return to_string(Shape(shape.begin(), shape.end())); }

// The biases that transformers expects of a model that has none.
std::vector<std::pair<std::string, std::size_t>> missing_biases(const GPTConfig& c) {
    std::vector<std::pair<std::string, std::size_t>> names;
    if (c.bias) return names;
    for (std::size_t i = 0; i < c.n_layer; ++i) {
        const std::string h = "transformer.h." + std::to_string(i) + ".";
        for (const auto& [name, width] :
             std::initializer_list<std::pair<const char*, std::size_t>>{{"ln_1", 1},
                                                                        {"attn.c_attn", 3},
                                                                        {"attn.c_proj", 1},
                                                                        {"ln_2", 1},
                                                                        {"mlp.c_fc", 4},
                                                                        {"mlp.c_proj", 1}}) {
            names.emplace_back(h + name + ".bias", width * c.n_embd);
        }
    }
    names.emplace_back("transformer.ln_f.bias", c.n_embd);
    return names;
}

// Buffers of old GPT-2 files that are no weights: the causal mask.
bool is_mask_buffer(const std::string& name) {
    return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
}

void load_weights(GPT<float>& model, const SafetensorsFile& file, const std::string& what) {
    // openai's own files lack the prefix
    const auto stored_name = [&](const std::string& name) {
        const std::string bare = name.substr(std::string("transformer.").size());
        return file.contains(name) || !file.contains(bare) ? name : bare;
    };
    std::string problems;
    std::vector<std::string> known{"lm_head.weight"};
    for (auto& [name, p] : model.parameters()) {
        const std::string stored = stored_name(name);
        known.push_back(stored);
        if (!file.contains(stored)) {
            problems += fmt::format("; {} is missing", name);
        } else if (file.info(stored).shape != stored_shape(name, p.shape())) {
            problems += fmt::format("; {} has shape {} where config.json wants {}", name,
                                    shape_text(file.info(stored).shape), shape_text(stored_shape(name, p.shape())));
        }
    }
    for (const auto& [name, width] : missing_biases(model.config)) {
        const std::string stored = stored_name(name);
        known.push_back(stored);
        if (!file.contains(stored)) continue;
        std::vector<float> values(file.info(stored).count);
        file.read(stored, values.data(), values.size());
        if (!std::all_of(values.begin(), values.end(), [](float v) { return v == 0; })) {
            problems += fmt::format("; {} is not zero although config.json says that there are no biases", name);
        }
    }
    for (const auto& [name, info] : file.tensors()) {
        if (std::find(known.begin(), known.end(), name) == known.end() && !is_mask_buffer(name)) {
            problems += fmt::format("; {} is not known", name);
        }
    }
    check<BadInput>(problems.empty(), "{}: the weights do not fit config.json{}", what, problems);
    for (auto& [name, p] : model.parameters()) {
        Array<float>& values = p.value_in_place();
        const std::string stored = stored_name(name);
        if (is_conv1d(name)) {
            Array<float> turned({p.dim(1), p.dim(0)});
            file.read(stored, turned.data(), turned.size());
            copy_into(values, turned.transposed(0, 1));
        } else {
            file.read(stored, values.data(), values.size());
        }
        const float* const v = values.data();
        check<BadInput>(std::all_of(v, v + values.size(), [](float x) { return std::isfinite(x); }),
                        "{}: {} holds values that are not finite", what, name);
    }
    if (file.contains("lm_head.weight")) {
        const Array<float>& wte = model.wte.weight.value();
        std::vector<float> head(file.info("lm_head.weight").count);
        file.read("lm_head.weight", head.data(), head.size());
        check<BadInput>(head.size() == wte.size() && std::equal(head.begin(), head.end(), wte.data()),
                        "{}: lm_head.weight differs from wte.weight: only a tied head is supported", what);
    }
}

}  // namespace

fs::path find_model(const fs::path& path) {
    check<BadInput>(fs::exists(path), "{}: there is no such model folder", path.string());
    for (const char* link : {"best", "latest"}) {
        if (fs::exists(path / link / "config.json")) return path / link;
    }
    check<BadInput>(fs::exists(path / "config.json"),
                    "{}: neither a model folder (no config.json) nor a run with a checkpoint", path.string());
    return path;
}

GPTConfig load_config(const fs::path& folder) {
    const fs::path path = folder / "config.json";
    return GPTConfig::from_json(data::parse_json(data::read_file(path), path.string(), 64), path.string());
}

LoadedModel load_model(const fs::path& folder, std::optional<double> dropout) {
    GPTConfig config = load_config(folder);
    if (dropout) config.dropout = *dropout;
    const fs::path weights = folder / "model.safetensors";
    const SafetensorsFile file = SafetensorsFile::open(weights);
    // Before memory for the model is taken: a lying config.json asks for no more than the file can fill.
    std::uint64_t stored = 0;
    for (const auto& [name, info] : file.tensors()) stored += info.count;
    check<BadInput>(config.parameter_count() <= stored, "{}: holds {} numbers where config.json wants {}",
                    weights.string(), stored, config.parameter_count());
    LoadedModel loaded{std::make_unique<GPT<float>>(config), data::load_tokenizer(folder)};
    load_weights(*loaded.model, file, weights.string());
    check<BadInput>(loaded.tokenizer->vocab_size() <= config.vocab_size,
                    "{}: {} tokens do not fit the model's vocabulary of {}", (folder / "tokenizer.json").string(),
                    loaded.tokenizer->vocab_size(), config.vocab_size);
    loaded.model->eval();
    return loaded;
}

void save_model(const fs::path& folder, GPT<float>& model, const data::Tokenizer& tokenizer) {
    const std::int64_t end = tokenizer.end_of_text().value_or(-1);
    const auto write = [&](const char* name, const json& content) {
        data::write_file_atomic(folder / name, content.dump(2) + "\n");
    };
    write("config.json", model.config.to_json(end));
    const json eot = end < 0 ? json(nullptr) : json(end);
    write("generation_config.json", {{"bos_token_id", eot}, {"eos_token_id", eot}, {"do_sample", true}});
    json tokenizer_config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                             {"model_max_length", model.config.block_size},
                             {"clean_up_tokenization_spaces", false}};
    if (const auto id = tokenizer.end_of_text()) {
        for (const char* key : {"bos_token", "eos_token", "unk_token"})
            tokenizer_config[key] = tokenizer.decode(std::span(&*id, 1));
    }
    write("tokenizer_config.json", tokenizer_config);
    data::write_file_atomic(folder / "tokenizer.json", tokenizer.to_json());

    SafetensorsWriter out;
    out.set_metadata("format", "pt");
    std::list<Array<float>> turned;  // kept until write()
    for (auto& [name, p] : model.parameters()) {
        const float* data = p.value().data();
        if (is_conv1d(name)) data = turned.emplace_back(p.value().transposed(0, 1).clone()).data();
        out.add(name, DType::F32, stored_shape(name, p.shape()), data);
    }
    for (const auto& [name, width] : missing_biases(model.config)) {
        out.add(name, DType::F32, {width}, turned.emplace_back(Array<float>({width}, 0.0f)).data());
    }
    out.write(folder / "model.safetensors");
}

}  // namespace inkling::models
