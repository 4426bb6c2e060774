// Regular expressions over UTF-8: PCRE2 with its JIT compiler.
//   const Regex regex("[0-9]+");
//   Regex::Scan scan(regex);                              // one per thread
//   if (const auto match = scan.find("ab 12", 0)) ...      // match->begin 3, match->end 5
// Character classes are Unicode's. regex.cpp is the only file that includes PCRE2.
// Some patterns backtrack exponentially, in one search or over all searches of a text. So the steps of patterns from
// files are counted:
//   const Regex regex(pattern, Regex::Steps::counted);
//   scan.allow(1'000'000);                                // for all searches from here on
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace inkling::data {

class Regex {
  public:
    enum class Steps { free, counted };  // counting makes a search about 1.7 times as slow

    // Throws BadInput (one line) for a pattern that PCRE2 rejects or that matches the empty text.
    explicit Regex(const std::string& pattern, Steps steps = Steps::free);

    // PCRE2's Unicode version: 14 in Debian 12, 16 in Debian 13.
    static int unicode_version();

    struct Match {
        std::size_t begin, end;
    };

    class Scan {
      public:
        explicit Scan(const Regex& regex);
        ~Scan();
        Scan(Scan&&) noexcept;

        // The first match at or after `from`. `text` must be UTF-8. Throws BadInput if the search exceeds the steps
        // left.
        std::optional<Match> find(std::string_view text, std::size_t from);

        // Sets the steps left for a counted pattern; initially 0. Each part of the pattern tried, and each byte passed,
        // is a step.
        void allow(std::uint64_t steps);

      private:
        struct State;
        std::unique_ptr<State> state_;
    };

  private:
    std::shared_ptr<const void> code_;
    bool counted_;
};

// Translates a pattern of a tokenizer.json, which is written for Oniguruma, to PCRE2. Syntax with the same meaning
// passes through. Throws BadInput (one line) for syntax on which the two differ, which would silently give different
// ids, or that no known tokenizer needs.
//   pcre2_pattern(R"([^\r\n\p{L}\p{N}]?\p{L}+|\s+)")
std::string pcre2_pattern(std::string_view pattern);

}  // namespace inkling::data
