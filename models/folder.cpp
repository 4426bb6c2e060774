#include "models/folder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <set>

#include "data/tokenizers/tokenizer_json.h"
#include "formats/file.h"
#include "formats/json.h"
#include "formats/safetensors_header.h"
#include "models/families/family.h"
#include "models/weight_files.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// How the parameters of a model lie in its files.
struct Stored {
    const Family& names;
    const WeightFiles& file;

    std::string name_of(const Parameter& p) const {
        if (p.part == Part::head && !names.other_head.empty() && file.contains(names.other_head))
            return names.other_head;
        const std::string name = names.name_of(p), bare = name.substr(names.optional_prefix.size());
        return !name.starts_with(names.optional_prefix) || file.contains(name) || !file.contains(bare) ? name : bare;
    }
};

std::vector<std::uint64_t> stored_shape(const Family& names, const Parameter& p) {
    std::vector<std::uint64_t> shape(p.shape.begin(), p.shape.end());
    if (names.stored_transposed(p)) std::reverse(shape.begin(), shape.end());
    return shape;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) { return to_string(Shape(shape.begin(), shape.end())); }

// A head that is tied may lie in files once more, under its own name.
Parameter tied_head(const Architecture& a) {
    return {Part::head, false, 0, {a.vocab_size, a.n_embd}, {nn::Role::head}, 0};
}

std::vector<float> read(const WeightFiles& file, const std::string& name) {
    std::vector<float> values(file.info(name).count);
    file.read(name, values.data(), values.size());
    return values;
}

// What is missing, left over or of another shape, all at once.
std::string misfits(const Architecture& a, const Stored& stored) {
    const WeightFiles& file = stored.file;
    std::string problems;
    std::set<std::string> known;
    if (a.tied_head) known.insert(stored.name_of(tied_head(a)));
    for (const Parameter& p : parameters(a)) {
        const std::string name = stored.name_of(p);
        known.insert(name);
        if (!file.contains(name)) {
            problems += fmt::format("; {} is missing", stored.names.name_of(p));
        } else if (const auto wanted = stored_shape(stored.names, p); file.info(name).shape != wanted) {
            problems += fmt::format("; {} has shape {} where config.json wants {}", stored.names.name_of(p),
                                    shape_text(file.info(name).shape), shape_text(wanted));
        }
    }
    for (const Parameter& p : stored.names.zero_biases(a)) {
        const std::string name = stored.name_of(p);
        known.insert(name);
        if (!file.contains(name)) continue;
        if (file.info(name).count != size_of(p.shape)) {
            problems += fmt::format("; {} has shape {} where config.json wants {}", stored.names.name_of(p),
                                    shape_text(file.info(name).shape), p.shape);
            continue;
        }
        const std::vector<float> values = read(file, name);
        if (!std::all_of(values.begin(), values.end(), [](float v) { return v == 0; })) {
            problems += fmt::format("; {} is not zero although config.json says that there are no biases",
                                    stored.names.name_of(p));
        }
    }
    file.each([&](const formats::TensorInfo& info) {
        if (!known.contains(info.name) && !stored.names.ignores(info.name))
            problems += fmt::format("; {} is not known", formats::shown_name(info.name));
    });
    constexpr std::size_t most = 4000;  // a file may hold many thousands of tensors
    if (problems.size() > most) problems = problems.substr(0, problems.rfind("; ", most)) + "; and more";
    return problems;
}

void load_weights(Transformer<float>& model, const WeightFiles& file) {
    const std::string what = file.path.string();
    const Stored stored{family(model.config.family), file};
    const std::string problems = misfits(model.config, stored);
    check<BadInput>(problems.empty(), "{}: the weights do not fit config.json{}", what, problems);
    for (const Parameter& p : parameters(model.config)) {
        Array<float> values = model.at(p).value_in_place();
        const std::string name = stored.name_of(p);
        if (stored.names.qkv_by_head && p.part == Part::query_key_value) {
            const std::size_t H = model.config.n_head, d = model.config.head_size(), n = values.size() / (3 * H * d);
            Array<float> by_head({H, 3, d, n}), mine = values.reshaped({3, H, d, n});
            file.read(name, by_head.data(), by_head.size());
            copy_into(mine, by_head.transposed(0, 1));
        } else if (stored.names.stored_transposed(p)) {
            Array<float> transposed({values.dim(1), values.dim(0)});
            file.read(name, transposed.data(), transposed.size());
            copy_into(values, transposed.transposed(0, 1));
        } else {
            file.read(name, values.data(), values.size());
        }
        check<BadInput>(
            std::all_of(values.data(), values.data() + values.size(), [](float x) { return std::isfinite(x); }),
            "{}: {} holds values that are not finite", what, stored.names.name_of(p));
    }
    if (!model.config.tied_head) return;
    const std::string copy = stored.name_of(tied_head(model.config));
    if (!file.contains(copy)) return;
    const ConstArray<float>& table = model.head_weight().value();
    const bool same_size = file.info(copy).count == table.size();
    const std::vector<float> head = same_size ? read(file, copy) : std::vector<float>();
    check<BadInput>(same_size && std::equal(head.begin(), head.end(), table.data()),
                    "{}: {} differs from the token table: only a tied head is supported", what, copy);
}

}  // namespace

fs::path find_model(const fs::path& path) {
    check<BadInput>(formats::is_there(path), "{}: there is no such model folder", path.string());
    for (const char* link : {"best", "latest"}) {
        if (formats::is_there(path / link / "config.json")) return path / link;
    }
    check<BadInput>(formats::is_there(path / "config.json"),
                    "{}: neither a model folder (no config.json) nor a run with a checkpoint", path.string());
    return path;
}

std::unique_ptr<data::Tokenizer> open_tokenizer(const fs::path& path) {
    const bool run = formats::is_folder(path) && !formats::is_there(path / "tokenizer.json") &&
                     (formats::is_there(path / "best") || formats::is_there(path / "latest"));
    return data::load_tokenizer(run ? find_model(path) : path);
}

namespace {

json read_json(const fs::path& path) {
    return formats::parse_json(formats::read_file(path, formats::FileKind::json), path.string(), 64);
}

// bos_token_id is one id, eos_token_id one or several; what is none of the vocabulary is none of a text.
void take_special_tokens(const json& j, Architecture& config) {
    const auto ids = [&](const char* key) {
        const json value = j.is_object() ? j.value(key, json()) : json();
        std::vector<std::int32_t> known;
        for (const json& id : value.is_array() ? value : json::array({value}))
            if (id.is_number_unsigned() && id.get<std::uint64_t>() < config.vocab_size) known.push_back(id);
        return known;
    };
    if (const auto begin = ids("bos_token_id"); !begin.empty()) config.begin_token = begin[0];
    for (const std::int32_t end : ids("eos_token_id"))
        if (!std::count(config.end_tokens.begin(), config.end_tokens.end(), end)) config.end_tokens.push_back(end);
}

}  // namespace

Architecture load_config(const fs::path& folder) {
    const fs::path path = folder / "config.json", generation = folder / "generation_config.json";
    const json j = read_json(path);
    Architecture config = read_config(j, path.string());
    if (formats::is_there(generation)) take_special_tokens(read_json(generation), config);
    take_special_tokens(j, config);
    return config;
}

LoadedModel load_model(const fs::path& folder, std::optional<double> dropout) {
    Architecture config = load_config(folder);
    if (dropout) config.dropout = *dropout;
    const WeightFiles file = WeightFiles::open(folder);
    // Before memory for the model is taken: a lying config.json asks for no more than the file can fill.
    check<BadInput>(parameter_count(config) <= file.numbers(), "{}: holds {} numbers where config.json wants {}",
                    file.path.string(), file.numbers(), parameter_count(config));
    LoadedModel loaded{std::make_unique<Transformer<float>>(config, std::nullopt), data::load_tokenizer(folder)};
    load_weights(*loaded.model, file);
    check<BadInput>(loaded.tokenizer->vocab_size() <= config.vocab_size,
                    "{}: {} tokens do not fit the model's vocabulary of {}", (folder / "tokenizer.json").string(),
                    loaded.tokenizer->vocab_size(), config.vocab_size);
    loaded.model->eval();
    return loaded;
}

void save_model(const fs::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer,
                formats::DType type) {
    const std::int64_t end = tokenizer.end_of_text().value_or(-1);
    const auto write = [&](const char* name, const json& content) {
        formats::write_file_atomic(folder / name, content.dump(2) + "\n");
    };
    json config = config_json(model.config, end);
    config["torch_dtype"] = type == formats::DType::F16    ? "float16"
                            : type == formats::DType::BF16 ? "bfloat16"
                                                           : "float32";
    write("config.json", config);
    write("generation_config.json",
          {{"bos_token_id", config["bos_token_id"]}, {"eos_token_id", config["eos_token_id"]}, {"do_sample", true}});
    json tokenizer_config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                             {"model_max_length", model.config.block_size},
                             {"clean_up_tokenization_spaces", false}};
    if (const auto id = tokenizer.end_of_text()) {
        for (const char* key : {"bos_token", "eos_token", "unk_token"})
            tokenizer_config[key] = tokenizer.decode(std::span(&*id, 1));
    }
    write("tokenizer_config.json", tokenizer_config);
    formats::write_file_atomic(folder / "tokenizer.json", tokenizer.to_json());

    const Family& names = family(model.config.family);
    formats::SafetensorsWriter out;
    out.set_metadata("format", "pt");
    std::list<ConstArray<float>> made;  // kept until write()
    for (const Parameter& p : parameters(model.config)) {
        const Tensor<float>& tensor = model.at(p);
        const ConstArray<float> values = unpacked(tensor);
        if (tensor.packed()) made.push_back(values);
        const float* data = values.data();
        check(type != formats::DType::F16 ||
                  std::all_of(data, data + values.size(), [](float x) { return std::abs(x) < 65520; }),
              "{} holds values that float16 has no numbers for: choose bf16 or f32", names.name_of(p));
        if (names.qkv_by_head && p.part == Part::query_key_value) {
            const std::size_t H = model.config.n_head, d = model.config.head_size(), n = values.size() / (3 * H * d);
            data = made.emplace_back(values.reshaped({3, H, d, n}).transposed(0, 1).clone()).data();
        }
        if (names.stored_transposed(p)) data = made.emplace_back(values.transposed(0, 1).clone()).data();
        out.add_rounded(names.name_of(p), type, stored_shape(names, p), data);
    }
    for (const Parameter& p : names.zero_biases(model.config)) {
        out.add_rounded(names.name_of(p), type, stored_shape(names, p),
                        made.emplace_back(Array<float>(p.shape, 0.0f)).data());
    }
    out.write(folder / "model.safetensors");
}

}  // namespace inkling::models
