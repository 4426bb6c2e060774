// The search pattern of a tokenizer step: a literal text or a regular expression.
//   const Pattern digits({R"(\p{N}+)"});
//   Pattern::Scan scan(digits);                           // one per thread
//   scan.allow(text.size());                              // see regex.h; before each text
//   if (const auto match = scan.find(text, 0)) ...
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/tokenizers/split/regex.h"

namespace inkling::data {

struct PatternSpec {
    std::string text;      // never empty
    bool literal = false;  // false: a regular expression
    bool operator==(const PatternSpec&) const = default;
};

class Pattern {
  public:
    // `spec` is in the dialect of tokenizer.json (regex.h). Throws BadInput for an unsupported pattern.
    // `steps`: free for a pattern that needs few steps on any text (split_patterns.h are known to).
    explicit Pattern(PatternSpec spec, Regex::Steps steps = Regex::Steps::counted);

    class Scan {
      public:
        explicit Scan(const Pattern& pattern);

        // Bounds the steps of all searches in a text of this size.
        void allow(std::size_t text_size);

        // The first match that begins at `from` or later. Throws BadInput when it takes too many steps.
        std::optional<Regex::Match> find(std::string_view text, std::size_t from);

      private:
        const PatternSpec& spec_;
        std::optional<Regex::Scan> regex_;
    };

  private:
    PatternSpec spec_;
    std::optional<Regex> regex_;  // none: a literal
};

}  // namespace inkling::data
