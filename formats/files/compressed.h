// What gzip and zstd compress, as a stream: only a window of it is in memory.
//   if (compression_of(head) != Compression::none) {
//       Decompressor text(head, more, "books.txt.gz");       // `more` reads what follows `head`
//       while (const std::size_t n = text.read(to, size)) ...
//   }
// Files of several parts (cat a.gz b.gz) are read to the end of the last.
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

// By the first bytes, which no UTF-8 text has.
Compression compression_of(std::string_view head);
inline constexpr std::size_t compression_head = 4;  // bytes that are enough to tell

class Decompressor {
  public:
    // `name`: for messages. `head`, at least compression_head bytes, begins what is compressed.
    Decompressor(std::string_view head, ReadSome more, std::string name);
    ~Decompressor();

    // Throws BadInput for what is damaged, ends early, needs a window of more than 128 MB, or grows without measure: to
    // more than 64 MB and 500 times its size.
    std::size_t read(char* to, std::size_t max_size);

  private:
    struct Stream;
    struct Gzip;
    struct Zstd;
    std::unique_ptr<Stream> stream_;
};

}  // namespace inkling::formats
