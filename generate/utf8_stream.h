// Decodes bytes that arrive in pieces, such as tokens of a byte-level model, without ever showing half a character:
//   Utf8Stream stream;
//   print(stream.push("\xE2\x82"));      // nothing yet
//   print(stream.push("\xAC!"));         // "€!"
//   print(stream.finish());              // the held bytes, as U+FFFD
#pragma once

#include <string>
#include <string_view>

namespace inkling::generate {

class Utf8Stream {
  public:
    // Returns the text that is now certain. Invalid bytes become U+FFFD, one for each maximal part of a character (as
    // in Python, Rust and browsers).
    std::string push(std::string_view bytes);

    // The end of the text.
    std::string finish();

  private:
    std::string held_;  // at most 3 bytes that may still become a character
};

// Decodes a whole text.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace inkling::generate
