#include "data/tokenizers/unknown_characters.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "formats/utf8.h"

namespace inkling::data {

namespace {

constexpr std::size_t max_shown = 5;

std::ptrdiff_t utf8_size(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

}  // namespace

std::string quoted_character(char32_t c) {
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    if (control) return fmt::format("U+{:04X}", static_cast<std::uint32_t>(c));
    std::string glyph = "'";
    formats::append_utf8(glyph, c);
    return glyph + "'";
}

void UnknownCharacters::add(char32_t character, char32_t replacement) {
    const std::scoped_lock lock(mutex_);
    ++tally_.characters;
    tally_.growth += utf8_size(replacement) - utf8_size(character);
    replacement_ = replacement;
    if (first_.size() <= max_shown && std::find(first_.begin(), first_.end(), character) == first_.end())
        first_.push_back(character);
}

UnknownCharacters::Tally UnknownCharacters::tally() const {
    const std::scoped_lock lock(mutex_);
    return tally_;
}

std::string UnknownCharacters::note() const {
    const std::scoped_lock lock(mutex_);
    if (tally_.characters == 0) return "";
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(first_.size(), max_shown); ++i) shown.push_back(quoted_character(first_[i]));
    if (first_.size() > max_shown) shown.push_back("...");
    const bool one = tally_.characters == 1;
    return fmt::format("{} character{} that the model does not know ({}) {} replaced by {}", tally_.characters,
                       one ? "" : "s", fmt::join(shown, ", "), one ? "was" : "were", quoted_character(replacement_));
}

}  // namespace inkling::data
