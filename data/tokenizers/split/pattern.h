// What a step of a tokenizer looks for in a text: another text, or a regular expression.
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
    bool literal = false;  // a text to look for, not a regular expression
    bool operator==(const PatternSpec&) const = default;
};

class Pattern {
  public:
    // In the dialect of tokenizer.json (split_dialect.h). Throws BadInput for a pattern that is not supported.
    explicit Pattern(PatternSpec spec);

    // One of the project's own, in PCRE2's dialect: it needs few steps on any text.
    static Pattern known(const std::string& pcre2);

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
    Pattern() = default;

    PatternSpec spec_;
    std::optional<Regex> regex_;  // none: a literal
};

}  // namespace inkling::data
