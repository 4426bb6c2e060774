// Streaming decompression of gzip and zstd; only a window is in memory.
//   if (compression_of(head) != Compression::none) {
//       Decompressor text(head, more, "books.txt.gz");       // `more` reads the bytes after `head`
//       while (const std::size_t n = text.read(to, size)) ...
//   }
// Concatenated files (cat a.gz b.gz) are read to the end of the last, and skippable frames of zstd, anywhere, are
// skipped.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace inkling::formats {

// Reads up to `max_size` bytes into `to` and returns their number; 0: the end.
using ReadSome = std::function<std::size_t(char* to, std::size_t max_size)>;

enum class Compression { none, gzip, zstd };

// Detects the format by its first bytes, which do not begin text.
Compression compression_of(std::string_view head);
inline constexpr std::size_t compression_head = 4;  // bytes needed to detect it

class Decompressor {
  public:
    // `name`: for messages. `head`: the first compression_head bytes or more.
    Decompressor(std::string_view head, ReadSome more, std::string name);
    ~Decompressor();

    // Throws BadInput if the data is damaged, truncated, needs a window above 128 MB, or is a bomb: expands to more
    // than 64 MB and 500 times its size.
    std::size_t read(char* to, std::size_t max_size);

  private:
    struct Stream;
    struct Gzip;
    struct Zstd;
    std::unique_ptr<Stream> stream_;
};

}  // namespace inkling::formats
