// Text, or other bytes, from a regular file, a FIFO, or standard input.
//   const Text text = open_text("notes.txt");          // "-": standard input
//   use(text.bytes);                                   // as long as text.owner or a copy of it lives
// Large files are mapped, and large streams are written to a file without a name and mapped, so text may be larger than
// memory, also one that is decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "formats/files/compressed.h"
#include "formats/files/file.h"

namespace inkling::data {

// Bytes, and their owner.
struct Text {
    std::string_view bytes;
    std::shared_ptr<const void> owner;
};

// Throws BadInput, naming the path: missing, unreadable, a device, a file with holes (which no text has).
Text open_text(const std::string& path);

// A stream, read as its bytes arrive; interrupted system calls are repeated. "-": standard input. Waits until a FIFO
// has a writer. Throws BadInput, naming the stream.
using formats::ReadSome;
ReadSome open_stream(const std::string& path);
Text read_stream(const ReadSome& read);

// open_text and read_stream, decompressed where gzip or zstd compressed it. Throws NoText for damaged input and for
// NUL bytes, in a stream as soon as one arrives. `name`: for messages.
struct NoText : BadInput {
    NoText(const std::string& message, std::string k) : BadInput(message), kind(std::move(k)) {}
    std::string kind;  // "binary", "damaged", "not UTF-8", "empty"
};
Text open_unpacked(const std::string& path);
Text read_unpacked(const ReadSome& read, const std::string& name);

// The findings of one pass over a text. Throws NoText at a NUL byte.
struct TextScan {
    std::size_t invalid = std::string_view::npos;  // offset of the first byte that is not UTF-8; npos if all are
    std::uint64_t hash = 0;                        // of valid text (content_hash.h)
};
TextScan scan_text(std::string_view text, const std::string& name);

// Takes a text that is already in memory.
Text keep_text(std::string text);

// A text that is put together from pieces.
class GrowingText {
  public:
    GrowingText();
    ~GrowingText();
    void append(std::string_view more);
    std::size_t size() const { return size_; }
    Text take();  // once, at the end

  private:
    void flush();

    std::string small_;                          // all of a small text, the end of a large one
    std::unique_ptr<class NamelessFile> large_;  // null while the text is small
    std::size_t size_ = 0;
};

// The whole of standard input, up to the size that a file of this kind may have.
std::string read_standard_input(const formats::FileKind& kind);

}  // namespace inkling::data
