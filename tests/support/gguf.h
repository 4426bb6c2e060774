// Reads a GGUF file, its metadata as JSON and its tensors as float32.
//   const Gguf file(path);
//   CHECK(file.pairs["general.architecture"] == "gpt2");
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/gguf/gguf_file.h"

namespace inkling::testing {

struct GgufNumbers {
    std::vector<std::uint64_t> shape;  // rows first
    std::uint32_t type = 0;
    std::vector<float> values;
};

struct Gguf {
    nlohmann::ordered_json pairs;
    std::map<std::string, GgufNumbers> tensors;

    explicit Gguf(const std::filesystem::path& path) {
        const auto file = formats::GgufFile::open(path);
        for (const auto& [key, value] : file.values()) pairs[key] = json_of(file, key, value);
        for (const auto& [name, t] : file.tensors()) {
            GgufNumbers& numbers = tensors[name] = {t.shape, static_cast<std::uint32_t>(t.layout->type), {}};
            numbers.values.resize(t.count);
            file.read(name, numbers.values.data(), t.count);
        }
    }

  private:
    static nlohmann::ordered_json json_of(const formats::GgufFile& file, const std::string& key,
                                          const formats::GgufValue& value) {
        using Type = formats::GgufValue::Type;
        if (value.list && value.type == Type::text) return file.texts(key);
        if (value.list) return file.numbers(key, value.count);
        if (value.type == Type::text) return *file.text(key);
        if (value.type == Type::flag) return *file.flag(key);
        if (value.type == Type::f32) return *file.number(key);
        return *file.size(key);
    }
};

}  // namespace inkling::testing
