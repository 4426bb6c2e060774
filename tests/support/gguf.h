// Reads a GGUF file, its metadata as JSON and its tensors as float32; and writes one.
//   const Gguf file(path);
//   check_holds(file.pairs, "general.architecture", "gpt2");
//   const auto config = read_gguf(fill, models::load_config);
//   const Gguf again = gguf_of([](auto& out) { out.add("x", GgufType::F32, {2}, array_of({1, 2})); });
#pragma once

#include <string_view>

#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"

namespace inkling::testing {

struct GgufNumbers {
    std::vector<std::uint64_t> shape;  // rows first
    std::string_view type = {};
    std::vector<float> values;
};

struct Gguf {
    nlohmann::json pairs;
    std::map<std::string, GgufNumbers> tensors;

    explicit Gguf(const std::filesystem::path& path) {
        const auto file = formats::GgufFile::open(path);
        pairs = file.values();
        for (const auto& [key, list] : file.lists()) {
            if (list.type == formats::GgufValueType::text)
                pairs[key] = file.texts(key);
            else
                pairs[key] = file.numbers(key, list.count);
        }
        for (const auto& [name, t] : file.tensors()) {
            GgufNumbers& numbers = tensors[name] = {t.shape, t.layout->name, {}};
            numbers.values.resize(t.count);
            file.read(name, numbers.values.data(), t.count);
        }
    }
};

// For GgufWriter::add.
inline formats::NumberParts array_of(const std::vector<float>& values) {
    return [values](const auto& part) {
        Array<float> array({values.size()});
        std::copy(values.begin(), values.end(), array.data());
        part(array);
    };
}

// What read(path) makes of the file that `fill` makes.
template <class Read>
auto read_gguf(const std::function<void(formats::GgufWriter&)>& fill, const Read& read) {
    const ScratchFolder scratch;
    const std::filesystem::path path = scratch.path("written.gguf");
    formats::GgufWriter out;
    fill(out);
    out.write(path);
    return read(path);
}

inline Gguf gguf_of(const std::function<void(formats::GgufWriter&)>& fill) {
    return read_gguf(fill, [](const std::filesystem::path& path) { return Gguf(path); });
}

}  // namespace inkling::testing
