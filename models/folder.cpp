#include "models/folder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <set>

#include "data/file.h"
#include "data/json.h"
#include "data/tokenizer_json.h"
#include "models/safetensors_header.h"
#include "models/stored_form.h"
#include "models/weight_files.h"
#include "nn/init.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::vector<std::uint64_t> stored_shape(const StoredForm& form, const std::string& name, const Shape& shape) {
    std::vector<std::uint64_t> result(shape.begin(), shape.end());
    if (form.turned(name)) std::reverse(result.begin(), result.end());
    return result;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) { return to_string(Shape(shape.begin(), shape.end())); }

// What is missing, left over or of another shape, all at once.
std::string misfits(LanguageModel<float>& model, const StoredForm& form, const WeightFiles& file,
                    const std::function<std::string(const std::string&)>& stored_name) {
    std::string problems;
    std::set<std::string> known{form.copy};
    for (auto& [name, p] : model.parameters()) {
        const std::string stored = stored_name(name);
        known.insert(stored);
        if (!file.contains(stored)) {
            problems += fmt::format("; {} is missing", name);
        } else if (const auto wanted = stored_shape(form, name, p.shape()); file.info(stored).shape != wanted) {
            problems += fmt::format("; {} has shape {} where config.json wants {}", name,
                                    shape_text(file.info(stored).shape), shape_text(wanted));
        }
    }
    for (const auto& [name, width] : form.zeros) {
        const std::string stored = stored_name(name);
        known.insert(stored);
        if (!file.contains(stored)) continue;
        std::vector<float> values(file.info(stored).count);
        file.read(stored, values.data(), values.size());
        if (!std::all_of(values.begin(), values.end(), [](float v) { return v == 0; })) {
            problems += fmt::format("; {} is not zero although config.json says that there are no biases", name);
        }
    }
    file.each([&](const TensorInfo& info) {
        if (!known.contains(info.name) && !form.ignored(info.name))
            problems += fmt::format("; {} is not known", shown_name(info.name));
    });
    constexpr std::size_t most = 4000;  // a file may hold many thousands of tensors
    if (problems.size() > most) problems = problems.substr(0, problems.rfind("; ", most)) + "; and more";
    return problems;
}

void load_weights(LanguageModel<float>& model, const WeightFiles& file) {
    const std::string what = file.path.string();
    const StoredForm form = stored_form(model.config);
    const auto stored_name = [&](const std::string& name) {
        const std::string bare = name.substr(form.prefix.size());
        return file.contains(name) || !file.contains(bare) ? name : bare;
    };
    const std::string problems = misfits(model, form, file, stored_name);
    check<BadInput>(problems.empty(), "{}: the weights do not fit config.json{}", what, problems);
    for (auto& [name, p] : model.parameters()) {
        Array<float>& values = p.value_in_place();
        const std::string stored = stored_name(name);
        if (form.turned(name)) {
            Array<float> turned({p.dim(1), p.dim(0)});
            file.read(stored, turned.data(), turned.size());
            copy_into(values, turned.transposed(0, 1));
        } else {
            file.read(stored, values.data(), values.size());
        }
        const float* const v = values.data();
        check<BadInput>(std::all_of(v, v + values.size(), [](float x) { return std::isfinite(x); }),
                        "{}: {} holds values that are not finite", what, name);
        if (name != form.original || !file.contains(form.copy)) continue;
        std::vector<float> copy(file.info(form.copy).count);
        file.read(form.copy, copy.data(), copy.size());
        check<BadInput>(copy.size() == values.size() && std::equal(copy.begin(), copy.end(), v),
                        "{}: {} differs from {}: only a tied head is supported", what, form.copy, stored);
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
    const WeightFiles file = WeightFiles::open(folder);
    // Before memory for the model is taken: a lying config.json asks for no more than the file can fill.
    check<BadInput>(config.parameter_count() <= file.numbers(), "{}: holds {} numbers where config.json wants {}",
                    file.path.string(), file.numbers(), config.parameter_count());
    const auto unfilled = [&] {
        const nn::NoInitialValues none;  // they would take ten times as long as reading
        return make_model<float>(config);
    };
    LoadedModel loaded{unfilled(), data::load_tokenizer(folder)};
    load_weights(*loaded.model, file);
    check<BadInput>(loaded.tokenizer->vocab_size() <= config.vocab_size,
                    "{}: {} tokens do not fit the model's vocabulary of {}", (folder / "tokenizer.json").string(),
                    loaded.tokenizer->vocab_size(), config.vocab_size);
    loaded.model->eval();
    return loaded;
}

void save_model(const fs::path& folder, LanguageModel<float>& model, const data::Tokenizer& tokenizer, DType type) {
    const std::int64_t end = tokenizer.end_of_text().value_or(-1);
    const auto write = [&](const char* name, const json& content) {
        data::write_file_atomic(folder / name, content.dump(2) + "\n");
    };
    json config = model.config.to_json(end);
    config["torch_dtype"] = type == DType::F16 ? "float16" : type == DType::BF16 ? "bfloat16" : "float32";
    write("config.json", config);
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

    const StoredForm form = stored_form(model.config);
    SafetensorsWriter out;
    out.set_metadata("format", "pt");
    std::list<Array<float>> made;  // kept until write()
    for (auto& [name, p] : model.parameters()) {
        const float* data = p.value().data();
        check(type != DType::F16 || std::all_of(data, data + p.size(), [](float x) { return std::abs(x) < 65520; }),
              "{} holds values that float16 has no numbers for: choose bf16 or f32", name);
        if (form.turned(name)) data = made.emplace_back(p.value().transposed(0, 1).clone()).data();
        out.add_rounded(name, type, stored_shape(form, name, p.shape()), data);
    }
    for (const auto& [name, width] : form.zeros) {
        out.add_rounded(name, type, {width}, made.emplace_back(Array<float>({width}, 0.0f)).data());
    }
    out.write(folder / "model.safetensors");
}

}  // namespace inkling::models
