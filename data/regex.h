// Regular expressions over UTF-8, by PCRE2 with its compiler to machine code:
//   const Regex regex("[0-9]+");
//   Regex::Scan scan(regex);                              // one a thread
//   if (const auto match = scan.find("ab 12", 0)) ...      // match->begin 3, match->end 5
// Letters, numbers and case are Unicode's. This is the only file that includes PCRE2.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace inkling::data {

class Regex {
  public:
    // Throws BadInput, one line, for a pattern that PCRE2 does not take or that matches the empty text.
    explicit Regex(const std::string& pattern);

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
        // absurdly many steps.
        std::optional<Match> find(std::string_view text, std::size_t from);

      private:
        struct State;
        std::unique_ptr<State> state_;
    };

  private:
    std::shared_ptr<const void> code_;
};

}  // namespace inkling::data
