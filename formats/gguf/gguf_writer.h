// Writes GGUF, the one-file models of llama.cpp: key-value pairs, then named tensors, as F32, F16, BF16, Q8_0 or Q4_0.
//   GgufWriter out;
//   out.set_text("general.architecture", "gpt2");
//   out.add("token_embd.weight", GgufType::Q8_0, {65, 128}, weights.data());   // a pointer, used by write
//   out.write("model.gguf");
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array/array.h"
#include "formats/gguf/gguf_types.h"

namespace inkling::formats {

class GgufWriter {
  public:
    // In the order of the calls. Throws Error for a repeated key.
    void set_u32(const std::string& key, std::uint32_t value);
    void set_f32(const std::string& key, float value);
    void set_bool(const std::string& key, bool value);
    void set_text(const std::string& key, std::string_view value);
    void set_texts(const std::string& key, const std::vector<std::string>& values);
    void set_bools(const std::string& key, const std::vector<bool>& values);
    void set_i32s(const std::string& key, const std::vector<std::int32_t>& values);
    void set_f32s(const std::string& key, const std::vector<float>& values);

    // `values` are row-major; write rounds them to nearest. Throws Error for a repeated name, a row of Q8_0 or Q4_0
    // that is not a multiple of 32 numbers, or a value out of the type's range.
    void add(const std::string& name, GgufType type, const Shape& shape, const float* values);

    // Throws Error if the file cannot be written; an existing file then stays intact.
    void write(const std::filesystem::path& path) const;

  private:
    struct Entry {
        GgufType type;
        std::size_t count;
        const float* values;
    };
    void begin_value(const std::string& key, std::uint32_t type);

    std::set<std::string> names_;
    std::uint64_t pairs_ = 0;
    std::string pair_bytes_, tensor_bytes_;  // as in the file
    std::uint64_t next_ = 0;                 // offset of the next tensor in the data
    std::vector<Entry> entries_;
};

}  // namespace inkling::formats
