#include "models/folder.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <list>
#include <nlohmann/json.hpp>

#include "data/tokenizers/tokenizer_json.h"
#include "formats/file.h"
#include "models/adapter_folder.h"
#include "models/chat_template.h"
#include "models/families/family.h"
#include "models/special_tokens.h"
#include "models/stored_weights.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

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
    // A large vocabulary takes as long as the weights: both at once, where there may be one more thread.
    auto reading = std::async(std::launch::async | std::launch::deferred, [&] {
        auto tokenizer = data::load_tokenizer(folder);
#ifdef __GLIBC__
        malloc_trim(0);  // of a large vocabulary's JSON: the heap would keep tens of megabytes beside the weights
#endif
        return tokenizer;
    });
    LoadedModel loaded{std::make_unique<Transformer<float>>(config, std::nullopt), nullptr};
    load_weights(*loaded.model, file, kept);
    loaded.tokenizer = reading.get();
    take_tokenizer_config(folder, *loaded.tokenizer, loaded.model->config);
    loaded.tokenizer->chat = read_chat_source(folder);
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
