// Reads and checks the header of a GGUF file, versions 2 and 3; a broken rule of the format is BadInput.
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include "formats/gguf/gguf_types.h"
#include "formats/gguf/gguf_values.h"

namespace inkling::formats {

struct GgufTensor {
    const GgufLayout* layout = nullptr;
    std::vector<std::uint64_t> shape = {};  // rows first; at most 4 extents, none of them 0
    std::uint64_t count = 1;                // numbers
    std::uint64_t offset = 0;               // of the bytes, from the end of the header
    std::span<const std::byte> bytes = {};
    std::size_t part = 0;  // of the files that make up the model

    std::uint64_t bytes_of(std::uint64_t numbers) const { return numbers / layout->block * layout->bytes; }
    // Widens `count` numbers from number `begin` on, both whole blocks, on this thread; returns how many are not
    // finite.
    std::uint64_t widen(std::uint64_t begin, float* out, std::uint64_t count) const;
};

struct GgufHeader {
    GgufValues values;
    std::map<std::string, GgufTensor> tensors;
};

GgufHeader read_gguf_header(std::span<const std::byte> file, const std::string& name);

}  // namespace inkling::formats
