// Reads GGUF, the one-file models of llama.cpp, versions 2 and 3. The file is mapped, its header checked as a whole:
// what breaks a rule of the format is BadInput. Values stay in the file until they are asked for.
//   const GgufFile file = GgufFile::open("model.gguf");
//   file.text("general.architecture");                    // nothing where there is no such key
//   file.read("token_embd.weight", values, count);        // widened to float32
// A model in several files (-00001-of-00003.gguf) is opened by its first.
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array/bfloat16.h"
#include "formats/files/file.h"
#include "formats/gguf/gguf_types.h"

namespace inkling::formats {

// Whether there is a regular file that is named *.gguf, or begins as one.
bool is_gguf(const std::filesystem::path& path);

struct GgufTensor {
    const GgufLayout* layout = nullptr;
    std::vector<std::uint64_t> shape = {};  // rows first; at most 4 extents, none of them 0
    std::uint64_t count = 1;                // numbers
    std::span<const std::byte> bytes = {};
    std::size_t part = 0;  // of the files that make up the model
};

// A value of the metadata, as it lies in the file.
struct GgufValue {
    enum class Type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, array, u64, i64, f64 };
    Type type = Type::u8;  // of the elements, where it is a list
    bool list = false;
    std::uint64_t count = 1;
    std::span<const std::byte> bytes = {};
};

class GgufFile {
  public:
    static GgufFile open(const std::filesystem::path& path);
    // A whole file in memory, which the caller keeps; `name` is what messages call it.
    static GgufFile parse(std::span<const std::byte> bytes, std::string name);

    // Nothing where there is no such key. BadInput for a value of another kind.
    bool has(const std::string& key) const { return values_.contains(key); }
    std::optional<std::string_view> text(const std::string& key) const;
    std::optional<std::uint64_t> size(const std::string& key) const;  // any whole number that is not negative
    std::optional<double> number(const std::string& key) const;  // float32 as its shortest decimal: 1e-05f is 1e-05
    std::optional<bool> flag(const std::string& key) const;
    std::vector<std::string_view> texts(const std::string& key) const;               // empty where there is no such key
    std::vector<double> numbers(const std::string& key, std::uint64_t count) const;  // BadInput for another count
    const std::map<std::string, GgufValue>& values() const { return values_; }

    const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }
    bool contains(const std::string& tensor) const { return tensors_.contains(tensor); }
    const GgufTensor& tensor(const std::string& name) const;  // BadInput when there is none
    // Widens all `count` numbers; returns how many are not finite. BadInput for a type that cannot be read.
    std::uint64_t read(const std::string& tensor, float* out, std::uint64_t count) const;
    std::uint64_t read(const std::string& tensor, BFloat16* out, std::uint64_t count) const;  // rounded to nearest
    // Gives the memory back that holds a tensor's pages of the file; it may be read again.
    void release(const std::string& tensor) const;

    const std::string& name() const { return name_; }

  private:
    template <class E>
    std::uint64_t read_as(const std::string& tensor, E* out, std::uint64_t count) const;
    void add_part(std::span<const std::byte> bytes, const std::string& name, std::size_t part);
    const GgufValue* find(const std::string& key, bool list) const;
    [[noreturn]] void refuse(const std::string& key, const char* wanted) const;

    std::string name_;
    std::vector<MappedFile> files_;  // none after parse
    std::map<std::string, GgufValue> values_;
    std::map<std::string, GgufTensor> tensors_;
};

}  // namespace inkling::formats
