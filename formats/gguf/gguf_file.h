// Reads GGUF, the one-file models of llama.cpp. Maps the file and checks the whole header; a broken rule of the format
// is BadInput.
//   const GgufFile file = GgufFile::open("model.gguf");
//   file.text("general.architecture");                    // nullopt for a missing key
//   file.read("token_embd.weight", values, count);        // widened to float32: tensor_file.h
// A model in several files (-00001-of-00003.gguf) is opened by its first.
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "formats/gguf/gguf_types.h"
#include "formats/gguf/gguf_values.h"
#include "formats/tensor_file.h"

namespace inkling::formats {

// Whether the path is a regular file named *.gguf, or one that begins like GGUF.
bool is_gguf(const std::filesystem::path& path);

// The metadata and the tensors of a model.
class GgufFile : public GgufValues, public TensorFile {
  public:
    static GgufFile open(const std::filesystem::path& path);
    // A whole file in memory, which the caller keeps unless it is `mapped`; messages call it `name`. `part`: of a model
    // in several files.
    static GgufFile parse(std::span<const std::byte> bytes, const std::string& name, std::size_t part = 0,
                          MappedFile mapped = {});

  private:
    GgufFile(const std::string& name, MappedFile mapped)
        : GgufValues(name), TensorFile(name), mapped_(std::move(mapped)) {}

    MappedFile mapped_;  // holds the lists, also of a file without tensors
};

}  // namespace inkling::formats
