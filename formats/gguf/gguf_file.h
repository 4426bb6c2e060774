// Reads GGUF, the one-file models of llama.cpp. Maps the file and checks the whole header; a broken rule of the format
// is BadInput.
//   const GgufFile file = GgufFile::open("model.gguf");
//   file.text("general.architecture");                    // nullopt for a missing key
//   file.read("token_embd.weight", values, count);        // widened to float32
// A model in several files (-00001-of-00003.gguf) is opened by its first.
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/array/bfloat16.h"
#include "formats/files/file.h"
#include "formats/gguf/gguf_types.h"
#include "formats/gguf/gguf_values.h"

namespace inkling::formats {

// Whether the path is a regular file named *.gguf, or one that begins like GGUF.
bool is_gguf(const std::filesystem::path& path);

struct GgufTensor {
    const GgufLayout* layout = nullptr;
    std::vector<std::uint64_t> shape = {};  // rows first; at most 4 extents, none of them 0
    std::uint64_t count = 1;                // numbers
    std::uint64_t offset = 0;               // of the bytes, from the end of the header
    std::span<const std::byte> bytes = {};
    std::size_t part = 0;  // of the files that make up the model

    std::uint64_t bytes_of(std::uint64_t numbers) const { return layout->bytes_of(numbers); }
    // Widens `count` numbers from number `begin` on, both whole blocks, on this thread; returns how many are not
    // finite.
    std::uint64_t widen(std::uint64_t begin, float* out, std::uint64_t count) const;
};

// The metadata and the tensors of a model.
class GgufFile : public GgufValues {
  public:
    static GgufFile open(const std::filesystem::path& path);
    // A whole file in memory, which the caller keeps; messages call it `name`. `part`: of a model in several files.
    static GgufFile parse(std::span<const std::byte> bytes, const std::string& name, std::size_t part = 0);

    const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }
    bool contains(const std::string& tensor) const { return tensors_.contains(tensor); }
    const GgufTensor& tensor(const std::string& name) const;    // BadInput if missing
    const GgufTensor& readable(const std::string& name) const;  // BadInput for a type that cannot be read, too
    // Widens all `count` numbers; returns how many are not finite. BadInput for a type that cannot be read.
    // E: float, or BFloat16, rounded to nearest.
    template <class E>
    std::uint64_t read(const std::string& tensor, E* out, std::uint64_t count) const;
    // Frees the memory of the file pages of `count` numbers, whole blocks; they may be read again.
    void release(const GgufTensor& tensor, std::uint64_t begin, std::uint64_t count) const;

  private:
    std::vector<MappedFile> files_;  // none after parse
    std::map<std::string, GgufTensor> tensors_;
};

}  // namespace inkling::formats
