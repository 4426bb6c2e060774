// Writes GGUF, the one-file models of llama.cpp: key-value pairs, then named tensors, as floats or in blocks.
//   GgufWriter out;
//   out.set_text("general.architecture", "gpt2");
//   out.add("token_embd.weight", GgufType::Q8_0, {65, 128}, [&](auto& part) { part(weights); });   // called by write
//   out.write("model.gguf");
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array/array.h"
#include "formats/gguf/gguf_types.h"
#include "formats/gguf/gguf_values.h"

namespace inkling::formats {

class GgufWriter {
  public:
    // In the order of the calls. Throws Error for a repeated key.
    void set_u32(const std::string& key, std::uint32_t value);
    void set_f32(const std::string& key, float value);
    void set_bool(const std::string& key, bool value);
    void set_text(const std::string& key, std::string_view value);
    void set_texts(const std::string& key, const std::vector<std::string>& values);
    void set_i32s(const std::string& key, const std::vector<std::int32_t>& values);
    void set_f32s(const std::string& key, const std::vector<float>& values);

    // write() calls `parts`, and rounds the values to nearest. Throws Error for a repeated name, and for rows that are
    // not whole blocks of the type.
    void add(const std::string& name, GgufType type, const Shape& shape, NumberParts parts);

    // Throws Error for a value out of its type's range, or if the file cannot be written; an existing file then stays
    // intact.
    void write(const std::filesystem::path& path) const;

  private:
    struct Entry {
        std::string name;
        GgufType type;
        std::size_t count;
        NumberParts parts;
    };
    std::string& begin_value(const std::string& key, GgufValueType type);
    std::string& begin_list(const std::string& key, GgufValueType type, std::size_t count);

    std::set<std::string> names_;
    std::uint64_t pairs_ = 0;
    std::string pair_bytes_, tensor_bytes_;  // as in the file
    std::uint64_t next_ = 0;                 // offset of the next tensor in the data
    std::vector<Entry> entries_;
};

}  // namespace inkling::formats
