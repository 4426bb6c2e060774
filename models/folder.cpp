#include "models/folder.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <nlohmann/json.hpp>
#include <set>

#include "data/tokenizers/tokenizer_json.h"
#include "engine/parallel.h"
#include "formats/file.h"
#include "formats/safetensors_header.h"
#include "models/adapter_folder.h"
#include "models/chat_template.h"
#include "models/families/family.h"
#include "models/special_tokens.h"
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

// E: float, or BFloat16 where that is what the file holds.
template <class E>
Array<E> read_values(const Stored& stored, const Architecture& a, const Parameter& p) {
    const std::string name = stored.name_of(p);
    Array<E> values(p.shape);
    const auto read = [&](Array<E> as_stored) {
        const std::uint64_t not_finite = stored.file.read(name, as_stored.data(), as_stored.size());
        check<BadInput>(not_finite == 0, "{}: {} holds values that are not finite", stored.file.path.string(),
                        stored.names.name_of(p));
        stored.file.release(name);
        return as_stored;
    };
    if (stored.names.qkv_by_head && p.part == Part::query_key_value) {
        const std::size_t H = a.n_head, d = a.head_size(), n = values.size() / (3 * H * d);
        Array<E> mine = values.reshaped({3, H, d, n});
        copy_into(mine, read(Array<E>({H, 3, d, n})).transposed(0, 1));
    } else if (stored.names.stored_transposed(p)) {
        copy_into(values, read(Array<E>({values.dim(1), values.dim(0)})).transposed(0, 1));
    } else {
        read(values);
    }
    return values;
}

void load_weights(Transformer<float>& model, const WeightFiles& file, Kept kept) {
    const bool exact_table = kept == Kept::decoder_bf16 || kept == Kept::decoder_q8_0;
    if (exact_table) kept = kept == Kept::decoder_bf16 ? Kept::bf16 : Kept::q8_0;
    const std::string what = file.path.string();
    const Stored stored{family(model.config.family), file};
    const std::string problems = misfits(model.config, stored);
    check<BadInput>(problems.empty(), "{}: the weights do not fit config.json{}", what, problems);
    for (const Parameter& p : parameters(model.config)) {
        const bool half = file.info(stored.name_of(p)).dtype == formats::DType::BF16;
        const bool as_stored = kept == Kept::as_stored || (exact_table && p.part == Part::token_table);
        const bool packs = may_be_packed(p) && kept != Kept::fp32 && (!as_stored || half);
        if (packs && half && (as_stored || kept != Kept::q8_0)) {
            const auto values = read_values<BFloat16>(stored, model.config, p);
            model.at(p) = Tensor<float>(std::make_shared<const PackedMatrix>(values));
        } else {
            const Tensor<float> values(read_values<float>(stored, model.config, p), true);
            const WeightType type = kept == Kept::q8_0 ? WeightType::q8_0 : WeightType::bf16;
            model.at(p) = packs ? packed(values, type) : values;
        }
    }
    if (!model.config.tied_head) return;
    const std::string copy = stored.name_of(tied_head(model.config));
    if (!file.contains(copy)) return;
    const ConstArray<float> table = unpacked(model.head_weight());
    const bool same_size = file.info(copy).count == table.size();
    const std::vector<float> head = same_size ? read(file, copy) : std::vector<float>();
    check<BadInput>(same_size && std::equal(head.begin(), head.end(), table.data()),
                    "{}: {} differs from the token table: only a tied head is supported", what, copy);
}

}  // namespace

fs::path find_model(const fs::path& path) {
    check<BadInput>(formats::is_there(path), "{}: there is no such model folder", path.string());
    const auto holds_model = [](const fs::path& folder) {
        return formats::is_there(folder / "config.json") || is_adapter(folder);
    };
    for (const char* link : {"best", "latest"}) {
        if (holds_model(path / link)) return path / link;
    }
    check<BadInput>(holds_model(path), "{}: neither a model folder (no config.json) nor a run with a checkpoint",
                    path.string());
    return path;
}

std::unique_ptr<data::Tokenizer> open_tokenizer(const fs::path& path) {
    const bool run = formats::is_folder(path) && !formats::is_there(path / "tokenizer.json") &&
                     (formats::is_there(path / "best") || formats::is_there(path / "latest"));
    const fs::path folder = run ? find_model(path) : path;
    const bool bare = is_adapter(folder) && !formats::is_there(folder / "tokenizer.json");
    const fs::path from = bare ? base_of_adapter(folder) : folder;
    auto tokenizer = data::load_tokenizer(from);
    if (formats::is_folder(from)) tokenizer->chat = read_chat_source(from);
    return tokenizer;
}

Architecture load_config(const fs::path& folder) {
    if (is_adapter(folder)) return load_config(base_of_adapter(folder));
    const fs::path path = folder / "config.json";
    const json j = read_json(path);
    Architecture config = read_config(j, path.string());
    take_special_tokens(folder, j, config);
    return config;
}

LoadedModel load_model(const fs::path& folder, std::optional<double> dropout, Kept kept) {
    if (is_adapter(folder)) {
        LoadedModel loaded = load_model(base_of_adapter(folder), dropout, kept);
        load_adapter(folder, *loaded.model);
        return loaded;
    }
    Architecture config = load_config(folder);
    if (dropout) config.dropout = *dropout;
    const WeightFiles file = WeightFiles::open(folder);
    // Before memory for the model is taken: a lying config.json asks for no more than the file can fill.
    check<BadInput>(parameter_count(config) <= file.numbers(), "{}: holds {} numbers where config.json wants {}",
                    file.path.string(), file.numbers(), parameter_count(config));
    LoadedModel loaded{std::make_unique<Transformer<float>>(config, std::nullopt), data::load_tokenizer(folder)};
    take_tokenizer_config(folder, *loaded.tokenizer, loaded.model->config);
    loaded.tokenizer->chat = read_chat_source(folder);
#ifdef __GLIBC__
    malloc_trim(0);  // of a large vocabulary's JSON: the heap would keep tens of megabytes
#endif
    load_weights(*loaded.model, file, kept);
    check<BadInput>(loaded.tokenizer->vocab_size() <= config.vocab_size,
                    "{}: {} tokens do not fit the model's vocabulary of {}", (folder / "tokenizer.json").string(),
                    loaded.tokenizer->vocab_size(), config.vocab_size);
    loaded.model->eval();
    return loaded;
}

void save_tokenizer(const fs::path& folder, const Architecture& config, const data::Tokenizer& tokenizer) {
    json tokenizer_config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                             {"model_max_length", config.block_size},
                             {"clean_up_tokenization_spaces", false}};
    if (const auto id = tokenizer.end_of_text()) {
        for (const char* key : {"bos_token", "eos_token", "unk_token"})
            tokenizer_config[key] = tokenizer.decode(std::span(&*id, 1));
    }
    if (tokenizer.chat) {
        tokenizer_config["chat_template"] = tokenizer.chat->jinja;
        for (const auto& [name, text] : tokenizer.chat->marks) tokenizer_config[name] = text;
    }
    formats::write_file_atomic(folder / "tokenizer_config.json", tokenizer_config.dump(2) + "\n");
    formats::write_file_atomic(folder / "tokenizer.json", tokenizer.to_json());
}

void save_model(const fs::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer,
                formats::DType type) {
    check(model.adapter.rank == 0, "save_model: the model has adapters: merge them, or save_adapter");
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
    save_tokenizer(folder, model.config, tokenizer);

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
