// Named tensors in one file, in the safetensors format that Hugging Face, candle and others read:
//   8 bytes: N, little endian; N bytes: a JSON object, padded with spaces; then the data, in row-major little endian,
//   where
//   {"__metadata__": {"format": "pt"}, "wte.weight": {"dtype": "F32", "shape": [65, 128], "data_offsets": [0, 33280]},
//   ...}
// Reading checks every rule of the format first; a broken one is BadInput:
//   const auto file = SafetensorsFile::open("model.safetensors");   // mapped, not read
//   file.read("wte.weight", weights.data(), weights.size());        // from F16, BF16, F32 or F64
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
#include "formats/files/file.h"
#include "formats/sha256.h"

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
std::string_view dtype_name(DType dtype);
std::uint64_t dtype_bits(DType dtype);
std::optional<DType> dtype_named(std::string_view name);

struct TensorInfo {
    std::string name = {};
    DType dtype = DType::F32;
    std::vector<std::uint64_t> shape = {};  // {} is a scalar
    std::uint64_t begin = 0, end = 0;       // bytes, from the end of the header
    std::uint64_t count = 1;                // elements: the product of the shape
};

class SafetensorsFile {
  public:
    static SafetensorsFile open(const std::filesystem::path& path);

    // The same for a whole file in memory, which the caller keeps; messages call it `name`.
    static SafetensorsFile parse(std::span<const std::byte> bytes, std::string name);

    const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
    const std::map<std::string, std::string>& metadata() const { return metadata_; }
    bool contains(const std::string& name) const { return tensors_.contains(name); }
    const TensorInfo& info(const std::string& name) const;  // BadInput if missing

    // The stored bytes, end - begin of them, at any alignment, valid as long as the file or a copy of it.
    const std::byte* data(const TensorInfo& info) const { return buffer_.data() + info.begin; }

    // Copies all `count` elements of a tensor of floats to float or double: F64 rounds to float32, others widen
    // exactly. Returns how many are not finite.
    template <class T>
    std::uint64_t read(const std::string& name, T* out, std::uint64_t count) const;
    // The bits of BF16.
    std::uint64_t read_bfloat16(const std::string& name, std::uint16_t* out, std::uint64_t count) const;

    // Frees the memory of a tensor's file pages; it may be read again.
    void release(const TensorInfo& info) const;

  private:
    const TensorInfo& counted(const std::string& name, std::uint64_t count) const;

    std::string name_;
    MappedFile file_;                    // empty after parse
    std::span<const std::byte> buffer_;  // after the header
    std::map<std::string, TensorInfo> tensors_;
    std::map<std::string, std::string> metadata_;
};

class SafetensorsWriter {
  public:
    void set_metadata(std::string key, std::string value);

    // `data` holds the elements as `dtype` in memory until write.
    void add(std::string name, DType dtype, std::vector<std::uint64_t> shape, const void* data);

    // float32 in memory, stored as F32, F16 or BF16, rounded to nearest. write() calls `make`, and then drops its
    // array.
    using Make = std::function<ConstArray<float>()>;
    void add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape, const float* data);
    void add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape, Make make);

    // Throws Error for a float that is not finite as it is stored, or if the file cannot be written; an existing file
    // then stays intact. `hash` receives the bytes of the file.
    void write(const std::filesystem::path& path, Sha256* hash = nullptr) const;

  private:
    struct Entry {
        TensorInfo info;  // begin is set by write
        const void* data = nullptr;
        Make make = nullptr;
        bool checked = false;  // a float of add_rounded
    };
    void insert(Entry entry);

    std::map<std::string, Entry> entries_;
    std::map<std::string, std::string> metadata_;
};

}  // namespace inkling::formats
