// Bytes that come in pieces, as tokens of a byte-level model do, made into text without ever showing half a character:
//   Utf8Stream stream;
//   print(stream.push("\xE2\x82"));      // nothing yet
//   print(stream.push("\xAC!"));         // "€!"
//   print(stream.finish());              // what was still held back, as U+FFFD
#pragma once

#include <string>
#include <string_view>

namespace inkling::generate {

class Utf8Stream {
  public:
    // The text that is now certain. Bytes that can begin or continue no character become U+FFFD, one for each longest
    // part that could have become one (as in Python, Rust and browsers).
    std::string push(std::string_view bytes);

    // The end of the text.
    std::string finish();

  private:
    std::string held_;  // at most 3 bytes that may still become a character
};

// The whole at once.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace inkling::generate
