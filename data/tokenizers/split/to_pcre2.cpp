// pcre2_pattern()
#include <algorithm>
#include <cstdint>

#include "data/tokenizers/split/regex.h"
#include "data/tokenizers/unicode_additions.h"
#include "engine/base/check.h"

namespace inkling::data {

namespace {

// Unicode's White_Space, which is \s in Oniguruma. PCRE2's \s adds U+180E.
constexpr std::string_view white_space = R"(\t-\r\x{85}\p{Z})";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

class Translation {
  public:
    explicit Translation(std::string_view pattern) : pattern_(pattern) {}

    std::string run() {
        while (at_ < pattern_.size()) {
            const char c = pattern_[at_];
            if (c == '\\') {
                escape();
            } else if (in_class_) {
                class_character(c);
            } else if (c == '[') {
                in_class_ = true;
                take(starts_with("[^") ? 2 : 1);
                require(!starts_with("]"), "a class that begins with ']'");
            } else if (c == '(') {
                group();
            } else if (c == '{') {
                repeat();
            } else if (c == '$') {  // in Oniguruma, the end of each line, not only of the text
                result_ += "(?m:$)";
                ++at_;
            } else {
                require(c != '^' && c != '.' && c != '#', fmt::format("'{}'", c));
                take(1);
            }
        }
        require(!in_class_, "a class without its ']'");
        return result_;
    }

  private:
    void require(bool ok, const std::string& what) const {
        if (!ok) throw BadInput(fmt::format("the pattern has {} at byte {}, which is not supported", what, at_));
    }
    bool starts_with(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
    void take(std::size_t count) {
        result_ += pattern_.substr(at_, count);
        at_ += count;
    }

    void escape() {
        require(at_ + 1 < pattern_.size(), "a '\\' at its end");
        const char c = pattern_[at_ + 1];
        if (c == 'p' || c == 'P') {
            property(c == 'P');
        } else if (c == 'x') {
            const std::size_t end = std::min(pattern_.find('}', at_), pattern_.size() - 1);
            const std::string_view digits = pattern_.substr(at_, end - at_ + 1);  // \x{180E}
            require(digits.size() >= 5 && digits.size() <= 10 && digits[2] == '{' && digits.ends_with('}') &&
                        digits.substr(3, digits.size() - 4).find_first_not_of("0123456789abcdefABCDEF") ==
                            std::string_view::npos,
                    "'\\x' without digits in braces");
            take(digits.size());
        } else if (c == 's') {
            result_ += in_class_ ? std::string(white_space) : fmt::format("[{}]", white_space);
            at_ += 2;
        } else if (c == 'S') {
            require(!in_class_, "'\\S' in a class");
            result_ += fmt::format("[^{}]", white_space);
            at_ += 2;
        } else {
            require(c == 'n' || c == 'r' || c == 't' || c == 'f' || (!is_letter_or_digit(c) && c > ' ' && c < 0x7F),
                    fmt::format("'\\' before byte 0x{:02X}", static_cast<unsigned char>(c)));
            take(2);
        }
    }

    // \p{L}, \p{Lu}: only general categories, which have the same names in both.
    void property(bool negated) {
        const std::size_t end = std::min(pattern_.find('}', at_), pattern_.size());
        const std::string_view name = pattern_.substr(at_, end - at_).substr(2);  // "{Lu"
        const bool category = end < pattern_.size() && name.size() >= 2 && name.size() <= 3 && name[0] == '{' &&
                              std::string_view("LMNPSZ").find(name[1]) != std::string_view::npos &&
                              (name.size() == 2 || (name[2] >= 'a' && name[2] <= 'z'));
        require(category, "a property other than one of the categories L M N P S Z and their parts");
        const std::string more = missing(name.substr(1));
        require(!negated || !in_class_, "'\\P' in a class");
        const auto members = fmt::format("\\p{}}}{}", name, more);
        result_ += in_class_ ? members : fmt::format("[{}{}]", negated ? "^" : "", members);
        at_ = end + 1;
    }

    // The characters of a category that PCRE2's Unicode lacks.
    static std::string missing(std::string_view category) {
        std::string ranges;
        if (Regex::unicode_version() >= 16) return ranges;
        for (const UnicodeRange& r : unicode_additions) {
            if (std::string_view(r.category).starts_with(category))
                ranges += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", static_cast<std::uint32_t>(r.first),
                                      static_cast<std::uint32_t>(r.last));
        }
        return ranges;
    }

    void class_character(char c) {
        require(c != '[' && !starts_with("&&"), "a class in a class");
        if (c == ']') in_class_ = false;
        take(1);
    }

    void group() {
        for (const char* opening : {"(?:", "(?i:", "(?!", "(?="}) {
            if (starts_with(opening)) return take(std::string_view(opening).size());
        }
        require(!starts_with("(?") && !starts_with("(*"), "a group other than (?: (?i: (?! (?=");
        take(1);
    }

    // {n}, {n,}, {n,m}. A + after it makes it possessive in PCRE2 and repeats it in Oniguruma.
    void repeat() {
        const std::size_t end = pattern_.find('}', at_);
        require(end != std::string_view::npos, "a '{' without its '}'");
        const std::string_view inside = pattern_.substr(at_ + 1, end - at_ - 1);
        require(
            !inside.empty() && inside[0] != ',' && inside.find_first_not_of("0123456789,") == std::string_view::npos,
            "a '{' that is no repetition");
        require(end + 1 >= pattern_.size() || (pattern_[end + 1] != '+' && pattern_[end + 1] != '?'),
                "'+' or '?' after a repetition in braces");
        take(end + 1 - at_);
    }

    std::string_view pattern_;
    std::string result_;
    std::size_t at_ = 0;
    bool in_class_ = false;
};

}  // namespace

std::string pcre2_pattern(std::string_view pattern) { return Translation(pattern).run(); }

}  // namespace inkling::data
