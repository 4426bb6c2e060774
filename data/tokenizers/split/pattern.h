// The search pattern of a tokenizer step: a literal text or a regular expression.
//   const Pattern digits(R"(\p{N}+)");
//   Pattern::Scan scan(digits);                           // one per thread
//   scan.allow(text.size());                              // see regex.h; before each text
//   if (const auto match = scan.find(text, 0)) ...
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/tokenizers/split/regex.h"

namespace inkling::data {

class Pattern {
  public:
    Pattern() = default;  // of a step that has none
    // `text` is in the dialect of tokenizer.json (regex.h), unless it is `literal`. Throws BadInput for an unsupported
    // pattern. `steps`: free for a pattern that needs few steps on any text (split_patterns.h are known to).
    Pattern(std::string text, bool literal = false, Regex::Steps steps = Regex::Steps::counted);

    const std::string& text() const { return text_; }
    bool literal() const { return !regex_; }
    bool operator==(const Pattern& other) const { return text_ == other.text_ && literal() == other.literal(); }

    class Scan {
      public:
        explicit Scan(const Pattern& pattern);

        // Bounds the steps of all searches in a text of this size.
        void allow(std::size_t text_size);

        // The first match that begins at `from` or later. Throws BadInput when it takes too many steps.
        std::optional<Regex::Match> find(std::string_view text, std::size_t from);

      private:
        const std::string& text_;
        std::optional<Regex::Scan> regex_;
    };

  private:
    std::string text_;
    std::optional<Regex> regex_;  // none: a literal
};

}  // namespace inkling::data
