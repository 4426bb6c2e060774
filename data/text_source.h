// Text, or other bytes, from a regular file, a FIFO, or standard input.
//   const Text text = open_text("notes.txt");          // "-": standard input
//   use(text.bytes);                                   // as long as text.owner or a copy of it lives
// Large files are mapped, and large streams are written to a file without a name and mapped, so text may be larger than
// memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "formats/file.h"

namespace inkling::data {

// Bytes, and their owner.
struct Text {
    std::string_view bytes;
    std::shared_ptr<const void> owner;
};

// Throws BadInput, naming the path: missing, unreadable, a device, a file with holes (which no text has).
Text open_text(const std::string& path);

// Reads up to `max_size` bytes into `to` and returns their number; 0: the end.
using ReadSome = std::function<std::size_t(char* to, std::size_t max_size)>;
Text read_stream(const ReadSome& read);

// Takes a text that is already in memory.
Text keep_text(std::string text);

// A stream, read as its bytes arrive; interrupted system calls are repeated. Throws BadInput, naming the stream.
class InputStream {
  public:
    InputStream() = default;                                  // standard input
    explicit InputStream(const std::filesystem::path& path);  // waits until a FIFO has a writer
    ~InputStream();
    InputStream(const InputStream&) = delete;
    InputStream& operator=(const InputStream&) = delete;

    std::size_t read(char* to, std::size_t max_size);

  private:
    std::string name_ = "standard input";
    int fd_ = 0;
};

// The whole of standard input, up to the size that a file of this kind may have.
std::string read_standard_input(formats::FileKind kind);

}  // namespace inkling::data
