// Streaming decompression of gzip and zstd; only a window is in memory.
//   const ReadSome text = decompressed(read, "books.txt.gz");       // other bytes pass unchanged
//   while (const std::size_t n = text(to, size)) ...
// Concatenated files (cat a.gz b.gz) are read to the end of the last, and skippable frames of zstd, anywhere, are
// skipped.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/check.h"

namespace inkling::formats {

// Reads up to `max_size` bytes into `to` and returns their number; 0: the end.
using ReadSome = std::function<std::size_t(char* to, std::size_t max_size)>;

enum class Compression { none, gzip, zstd };

// Detects the format by its first 4 bytes, which do not begin text.
Compression compression_of(std::string_view head);

// The data is damaged, truncated, needs a window above 128 MB, or is a bomb: expands to more than 64 MB and 500 times
// its size.
struct Damaged : BadInput {
    using BadInput::BadInput;
};

// Reading throws Damaged. `name`: for messages.
ReadSome decompressed(ReadSome read, std::string name);

}  // namespace inkling::formats
