#include "models/files/folder.h"

#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <future>
#include <nlohmann/json.hpp>

#include "data/chat/chat_template.h"
#include "data/tokenizers/id_tokenizer.h"
#include "data/tokenizers/json/tokenizer_json.h"
#include "engine/process/memory.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/gguf/gguf_file.h"
#include "models/files/adapter_folder.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "models/files/special_tokens.h"
#include "models/files/stored_weights.h"

namespace inkling::models {

namespace fs = std::filesystem;
using nlohmann::json;

std::string how_to_get(const fs::path& path) {
    const std::string name = path.string();
    const bool of_hub = !name.empty() && std::count(name.begin(), name.end(), '/') <= 1 &&
                        name.find_first_of(".~/-") != 0 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                            return std::isalnum(c) || std::strchr("-_./", c);
                        });
    if (!of_hub) return "";
    return fmt::format(": if it is on huggingface.co, run hf download {} --local-dir {}", name,
                       path.filename().string());
}

bool holds_model(const fs::path& path) {
    return formats::is_there(path / "config.json") || is_adapter(path) || formats::is_gguf(path);
}

// Other weights in the folder, for messages.
static std::string found_instead(const fs::path& path) {
    if (!formats::is_folder(path)) return ", nor a GGUF file";
    for (const std::string& name : formats::names_in(path))
        if (formats::is_gguf(path / name)) return ": name a file that it holds, such as " + (path / name).string();
    return ": name the --out of a training run, or a model folder";
}

fs::path find_model(const fs::path& path) {
    if (!formats::is_there(path))
        throw BadInput(path.string() + (path.extension() == ".gguf"
                                            ? ": there is no such file"
                                            : ": there is no such model folder" + how_to_get(path)));
    for (const char* link : {"best", "latest"}) {
        if (holds_model(path / link)) return path / link;
    }
    if (!holds_model(path))
        throw BadInput(path.string() + ": neither a model folder (no config.json) nor a run with a checkpoint" +
                       found_instead(path));
    return path;
}

// A model folder without any of a tokenizer's files is of a model whose texts are token ids.
static std::unique_ptr<data::Tokenizer> read_tokenizer(const fs::path& path) {
    constexpr const char* kFiles[] = {"tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json",
                                      "encoder.json"};
    const auto is_there = [&](const char* name) { return formats::is_there(path / name); };
    if (!formats::is_folder(path) || !is_there("config.json") ||
        std::any_of(std::begin(kFiles), std::end(kFiles), is_there))
        return data::load_tokenizer(path);
    return std::make_unique<data::IdTokenizer>(load_config(path).vocab_size);
}

std::unique_ptr<data::Tokenizer> open_tokenizer(const fs::path& path) {
    if (formats::is_gguf(path)) return read_gguf_tokenizer(formats::GgufFile::open(path));
    const bool run = formats::is_folder(path) && !formats::is_there(path / "tokenizer.json") &&
                     (formats::is_there(path / "best") || formats::is_there(path / "latest"));
    const fs::path folder = run ? find_model(path) : path;
    const fs::path from = formats::is_there(folder / "tokenizer.json") ? folder : base_of_adapter(folder);
    if (formats::is_gguf(from)) return open_tokenizer(from);
    auto tokenizer = read_tokenizer(from);
    if (formats::is_folder(from)) {
        tokenizer->chat = data::read_chat_source(from);
        tokenizer->named = read_named_tokens(from, *tokenizer);
    }
    return tokenizer;
}

static Architecture read_gguf_config(const formats::GgufFile& file) {
    Architecture config = read_gguf_architecture(file);
    take_gguf_special_tokens(file, config);
    return config;
}

Architecture load_config(const fs::path& model) {
    const fs::path folder = base_of_adapter(model);
    if (formats::is_gguf(folder)) return read_gguf_config(formats::GgufFile::open(folder));
    const fs::path path = folder / "config.json";
    const json j = read_json(path);
    Architecture config = read_config(j, path.string());
    take_special_tokens(folder, j, config);
    return config;
}

WeightType usual_weights(const fs::path& model) {
    const fs::path file = base_of_adapter(find_model(model));
    const bool quantized = formats::is_gguf(file) && WeightFiles::open(file).quantized();
    return quantized ? WeightType::file : WeightType::fp32;
}

// The files of a model that is not an adapter, before memory for its weights is taken. One GGUF header is parsed once.
static ModelHeader open_files(const fs::path& folder) {
    const bool gguf = formats::is_gguf(folder);
    Architecture config = gguf ? Architecture() : load_config(folder);
    ModelHeader header{WeightFiles::open(folder), std::move(config), nullptr};
    if (gguf) header.config = read_gguf_config(*header.weights.gguf());
    check_weights(header.config, header.weights);
    return header;
}

static void read_tokenizer(const fs::path& folder, ModelHeader& header) {
    const formats::GgufFile* const gguf = header.weights.gguf();
    header.tokenizer = gguf ? read_gguf_tokenizer(*gguf) : read_tokenizer(folder);
    if (!gguf) {
        header.tokenizer->named = read_named_tokens(folder, *header.tokenizer, &header.config);
        header.tokenizer->chat = data::read_chat_source(folder);
    }
#ifdef __GLIBC__
    malloc_trim(0);  // of a large vocabulary's JSON: the heap would keep tens of megabytes beside the weights
#endif
    check<BadInput>(header.tokenizer->vocab_size() <= header.config.vocab_size,
                    "{}: {} tokens do not fit the model's vocabulary of {}", header.tokenizer->origin,
                    header.tokenizer->vocab_size(), header.config.vocab_size);
}

ModelHeader read_header(const fs::path& path) {
    const fs::path folder = base_of_adapter(path);
    ModelHeader header = open_files(folder);
    read_tokenizer(folder, header);
    if (has_own_head(header.config, header.weights)) header.config.tied_head = false;
    if (is_adapter(path)) header.adapter = read_adapter_header(path, header.config);
    return header;
}

LoadedModel load_model(const fs::path& path, std::optional<double> dropout, WeightStorage storage) {
    const fs::path folder = base_of_adapter(path);
    ModelHeader header = open_files(folder);
    if (dropout) header.config.dropout = *dropout;
    if (!storage.in_files) {
        const auto needed = static_cast<double>(loaded_bytes(header.config, header.weights, storage)),
                   room = static_cast<double>(available_memory());
        if (needed > room)
            throw Error(out_of_memory_text(header.weights.path.string(), needed, room,
                                           "choose fewer bits, by --quantize q8_0, or a smaller model"));
    }
    LoadedModel loaded{std::make_unique<Transformer<float>>(header.config, std::nullopt), nullptr};
    // A large vocabulary takes as long as the weights: both at once, where there may be one more thread.
    auto reading = std::async(std::launch::async | std::launch::deferred, [&] { read_tokenizer(folder, header); });
    if (!storage.in_files) load_weights(*loaded.model, header.weights, storage);
    reading.get();  // has added the ids of named tokens to header.config, load_weights a head of its own to the model
    if (storage.in_files) keep_in_files(*loaded.model, std::move(header.weights));
    header.config.tied_head = loaded.model->config.tied_head;
    loaded.model->config = header.config;
    loaded.tokenizer = std::move(header.tokenizer);
    loaded.model->eval();
    if (is_adapter(path)) load_adapter(path, *loaded.model);
    return loaded;
}

void save_tokenizer(const fs::path& folder, const Architecture& config, const data::Tokenizer& tokenizer) {
    if (tokenizer.kind() == data::TokenizerKind::ids) return;
    json tokenizer_config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                             {"model_max_length", config.block_size},
                             {"clean_up_tokenization_spaces", false}};
    for (const auto& [name, id] : named_tokens(tokenizer))
        tokenizer_config[name + "_token"] = tokenizer.decode(std::span(&id, 1));
    for (const auto& [name, added] : tokenizer.named.added) tokenizer_config["add_" + name + "_token"] = added;
    if (tokenizer.chat && !tokenizer.chat->jinja.empty()) {
        tokenizer_config["chat_template"] = tokenizer.chat->jinja;
        for (const auto& [name, text] : tokenizer.chat->special_tokens) tokenizer_config[name] = text;
    }
    formats::write_file_atomic(folder / "tokenizer_config.json", tokenizer_config.dump(2) + "\n");
    formats::write_file_atomic(folder / "tokenizer.json", tokenizer.to_json());
}

void save_model(const fs::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer,
                formats::DType type, formats::Sha256* hash) {
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

    save_weights(folder / "model.safetensors", model, type, hash);
}

}  // namespace inkling::models
