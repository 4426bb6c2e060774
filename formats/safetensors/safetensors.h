// Named tensors in one file, in the safetensors format that Hugging Face, candle and others read:
//   8 bytes: N, little endian; N bytes: a JSON object, padded with spaces; then the data, in row-major little endian,
//   where
//   {"__metadata__": {"format": "pt"}, "wte.weight": {"dtype": "F32", "shape": [65, 128], "data_offsets": [0, 33280]},
//   ...}
// Reading checks every rule of the format first; a broken one is BadInput:
//   const auto file = SafetensorsFile::open("model.safetensors");   // mapped, not read
//   file.read("wte.weight", weights.data(), weights.size());        // from F16, BF16, F32 or F64 (tensor_file.h)
// Writing is atomic (formats/files/file.h):
//   SafetensorsWriter out;
//   out.set_metadata("format", "pt");
//   out.add("wte.weight", DType::F32, {65, 128}, weights.data());            // pointers, used by write
//   out.add_rounded("wpe.weight", DType::BF16, {64, 128}, positions.data()); // from float32
//   out.write("model.safetensors");
// Source: https://github.com/huggingface/safetensors, README and safetensors/src/tensor.rs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array/array.h"
#include "formats/sha256.h"
#include "formats/tensor_file.h"

namespace inkling::formats {

// By alignment; data in a file is ordered by it, largest first.
enum class DType {
    BOOL,
    F4,
    F6_E2M3,
    F6_E3M2,
    U8,
    I8,
    F8_E5M2,
    F8_E4M3,
    F8_E8M0,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    C64,
    F64,
    I64,
    U64
};
const NumberLayout& layout_of(DType dtype);
std::optional<DType> dtype_named(std::string_view name);

class SafetensorsFile : public TensorFile {
  public:
    SafetensorsFile() = default;
    static SafetensorsFile open(const std::filesystem::path& path);

    // The same for a whole file in memory, which the caller keeps unless it is `mapped`; messages call it `name`.
    static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string& name, MappedFile mapped = {});

    const std::map<std::string, std::string>& metadata() const { return metadata_; }

  private:
    explicit SafetensorsFile(const std::string& name) : TensorFile(name) {}

    std::map<std::string, std::string> metadata_;
};

class SafetensorsWriter {
  public:
    void set_metadata(std::string key, std::string value);

    // `data` holds the elements as `dtype` in memory until write.
    void add(std::string name, DType dtype, std::vector<std::uint64_t> shape, const void* data);

    // float32, stored as F32, F16 or BF16, rounded to nearest. write() calls `parts`.
    void add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape, const float* data);
    void add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape, NumberParts parts);

    // Throws Error for a float that is not finite as it is stored, or if the file cannot be written; an existing file
    // then stays intact. `hash` receives the bytes of the file.
    void write(const std::filesystem::path& path, Sha256* hash = nullptr) const;

  private:
    struct Entry {
        std::string name;
        DType dtype;
        std::vector<std::uint64_t> shape;
        const void* data = nullptr;
        NumberParts parts = nullptr;
        bool checked = false;  // a float of add_rounded
        std::uint64_t count = 1, bytes = 0;
    };
    void insert(Entry entry);

    std::map<std::string, Entry> entries_;
    std::map<std::string, std::string> metadata_;
};

}  // namespace inkling::formats
