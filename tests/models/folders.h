// Model folders for the tests: one made by Inkling in a scratch folder, and changes to its files.
#pragma once

#include "data/tokenizers/char_tokenizer.h"
#include "formats/safetensors/safetensors.h"
#include "models/files/folder.h"
#include "tests/models/architectures.h"

namespace inkling::testing {

struct StoredTensor {
    std::vector<std::uint64_t> shape;
    std::vector<float> values;
    bool operator==(const StoredTensor&) const = default;
};
using StoredTensors = std::map<std::string, StoredTensor>;

inline StoredTensors read_tensors(const fs::path& path) {
    const auto file = formats::SafetensorsFile::open(path);
    StoredTensors tensors;
    for (const auto& [name, info] : file.tensors()) {
        StoredTensor t{info.shape, std::vector<float>(info.count)};
        file.read(name, t.values.data(), info.count);
        tensors.emplace(name, std::move(t));
    }
    return tensors;
}

inline void write_tensors(const fs::path& path, const StoredTensors& tensors) {
    formats::SafetensorsWriter out;
    for (const auto& [name, t] : tensors) out.add(name, formats::DType::F32, t.shape, t.values.data());
    out.write(path);
}

inline void check_same_tensors(const fs::path& a, const fs::path& b) {
    const StoredTensors x = read_tensors(a), y = read_tensors(b);
    REQUIRE(x.size() == y.size());
    for (const auto& [name, tensor] : x) {
        INFO(name);
        REQUIRE(y.contains(name));
        CHECK(y.at(name) == tensor);
    }
}

// Change a file of tensors, or of JSON.
inline void change_tensors(const fs::path& path, const std::function<void(StoredTensors&)>& change) {
    StoredTensors tensors = read_tensors(path);
    change(tensors);
    write_tensors(path, tensors);
}
inline void change_json_file(const fs::path& path, const std::function<void(nlohmann::json&)>& change) {
    auto j = nlohmann::json::parse(formats::read_file(path));
    change(j);
    formats::write_file_atomic(path, j.dump());
}

// A folder with a small model over the characters a to h.
struct ModelFolder {
    ScratchFolder scratch;
    data::CharTokenizer tokenizer = data::CharTokenizer::from_text("abcdefgh");
    models::Transformer<float> model;

    explicit ModelFolder(bool bias = true, std::uint64_t seed = 3) : model(gpt2_shape(8, 2, 2, 12, 6, 0.0, bias)) {
        fill_parameters(model, 0.2, {seed, 0});  // including biases and gains
        model.eval();
        models::save_model(path(), model, tokenizer);
    }

    fs::path path(const std::string& name = "") const { return scratch.path(name); }
    fs::path weights() const { return path("model.safetensors"); }

    void change_json(const std::string& name, const std::function<void(nlohmann::json&)>& change) const {
        change_json_file(path(name), change);
    }
    void change_weights(const std::function<void(StoredTensors&)>& change) const { change_tensors(weights(), change); }

    std::string refusal() const {
        return error_of([&] { models::load_model(path()); });
    }
};

}  // namespace inkling::testing
