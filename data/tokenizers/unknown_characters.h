// Counts characters outside the vocabulary that were replaced:
//   tokenizer.unknown = std::make_shared<UnknownCharacters>();     // otherwise they are an error
//   tokenizer.encode(text);
//   tokenizer.unknown->note()       // "3 characters that the model does not know ('é', '漢') were replaced by '?'"
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace inkling::data {

// 'é' with its number; control characters by number only, so that messages stay on one line.
std::string quoted_character(char32_t c);

class UnknownCharacters {
  public:
    void add(char32_t character, char32_t replacement);

    struct Tally {
        std::size_t characters = 0;
        std::ptrdiff_t growth = 0;  // of the text, in bytes; negative if it shrinks
    };
    Tally tally() const;
    std::string note() const;  // "" without replacements

  private:
    mutable std::mutex mutex_;
    Tally tally_;
    std::vector<char32_t> first_;  // the first few distinct characters
    char32_t replacement_ = 0;
};

}  // namespace inkling::data
