// Regular expressions over UTF-8, by PCRE2 with its compiler to machine code:
//   const Regex regex("[0-9]+");
//   Regex::Scan scan(regex);                              // one per thread
//   if (const auto match = scan.find("ab 12", 0)) ...      // match->begin 3, match->end 5
// Letters, numbers and case are Unicode's. This is the only file that includes PCRE2.
// A search tries one way to match after another, and for some patterns there are too many, in one search or in all
// searches of a text together. So the steps of patterns from outside are counted:
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
    enum class Steps { free, counted };  // counting makes a search take about 1.7 times as long

    // Throws BadInput, one line, for a pattern that PCRE2 refuses or that matches the empty text.
    explicit Regex(const std::string& pattern, Steps steps = Steps::free);

    // Of PCRE2's tables: 14 in Debian 12, 16 in Debian 13.
    static int unicode_version();

    struct Match {
        std::size_t begin, end;
    };

    class Scan {
      public:
        explicit Scan(const Regex& regex);
        ~Scan();
        Scan(Scan&&) noexcept;

        // The first match that begins at `from` or later. `text` must be UTF-8. Throws BadInput when the search takes
        // more steps than are left.
        std::optional<Match> find(std::string_view text, std::size_t from);

        // What is left from here on, of a pattern whose steps are counted; none at first. A step is a part of the
        // pattern that is tried, or a byte that it runs over.
        void allow(std::uint64_t steps);

      private:
        struct State;
        std::unique_ptr<State> state_;
    };

  private:
    std::shared_ptr<const void> code_;
    bool counted_;
};

}  // namespace inkling::data
