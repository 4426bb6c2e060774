// A fuzz target for PEFT's adapters: any two files are an adapter of a small model, or refused with BadInput. The first
// byte says which file the other bytes are: c the configuration, beside intact weights; w the weights, beside an intact
// configuration. See run.sh.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "data/tokenizers/char_tokenizer.h"
#include "engine/base/check.h"
#include "formats/files/file.h"
#include "models/families/family.h"
#include "models/files/adapter_folder.h"
#include "tests/fuzz/target.h"

namespace fs = std::filesystem;

constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr const char* kAdapterWeights = "adapter_model.safetensors";

constexpr const char* kAdapterLetters = "abcdefgh";

static void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

static models::Transformer<float> model_of_letters() {
    models::Architecture a = models::family("llama").defaults(false);
    a.vocab_size = 8, a.n_layer = 1, a.n_head = 2, a.n_embd = 8, a.block_size = 8;
    return models::Transformer<float>(a);
}

struct AdapterFiles {
    fs::path path = fs::temp_directory_path() / ("inkling-fuzz-" + std::to_string(getpid()));
    std::string config, weights;
    AdapterFiles() {
        fs::create_directories(path);
        models::Transformer<float> model = model_of_letters();
        model.adapt({.rank = 2, .base = "base"}, models::adapter_targets(model.config, "all-linear"), Generator{1});
        models::save_adapter(path, model, data::CharTokenizer::from_text(kAdapterLetters));
        config = formats::read_file(path / kAdapterConfig);
        weights = formats::read_file(path / kAdapterWeights);
    }
    AdapterFiles(const AdapterFiles&) = delete;
    AdapterFiles& operator=(const AdapterFiles&) = delete;
    ~AdapterFiles() { fs::remove_all(path); }
};

FUZZ_TARGET(adapter) {
    static const AdapterFiles folder;
    if (size == 0) return 0;
    const std::string bytes_of_file(reinterpret_cast<const char*>(bytes) + 1, size - 1);
    const bool is_config = bytes[0] == 'c';
    write_bytes(folder.path / kAdapterConfig, is_config ? bytes_of_file : folder.config);
    write_bytes(folder.path / kAdapterWeights, is_config ? folder.weights : bytes_of_file);
    models::Transformer<float> model = model_of_letters();
    try {
        models::load_adapter(folder.path, model);
    } catch (const BadInput&) {  // it names each tensor on a line
        return 0;
    }
    if (model.adapter.rank == 0) std::abort();
    model.merge_adapters();
    for (const auto& [name, p] : model.parameters())
        for (std::size_t i = 0; i < p.size(); ++i)
            if (!(std::abs(p.value().data()[i]) < 1e38f)) std::abort();
    return 0;
}
