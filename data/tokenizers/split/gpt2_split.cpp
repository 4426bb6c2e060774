#include "data/tokenizers/split/split_patterns.h"

#include <array>
#include <cstdint>

namespace inkling::data {

namespace {

enum CharacterKind : std::uint8_t { kOther, kLetter, kNumber, kSpace, kBeyondAscii };

constexpr std::array<CharacterKind, 256> kinds = [] {
    std::array<CharacterKind, 256> made{};
    for (std::size_t c = 0; c < 256; ++c) {
        if (c >= 0x80) {
            made[c] = kBeyondAscii;
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            made[c] = kLetter;
        } else if (c >= '0' && c <= '9') {
            made[c] = kNumber;
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            made[c] = kSpace;
        }
    }
    return made;
}();

CharacterKind kind(char c) { return kinds[static_cast<unsigned char>(c)]; }

// The length of 's 't 're 've 'm 'll 'd at text[at] == '\'', or 0.
std::size_t contraction(std::string_view text, std::size_t at) {
    if (at + 1 >= text.size()) return 0;
    const char c = text[at + 1], next = at + 2 < text.size() ? text[at + 2] : '\0';
    if (c == 's' || c == 't' || c == 'm' || c == 'd') return 2;
    return ((c == 'r' || c == 'v') && next == 'e') || (c == 'l' && next == 'l') ? 3 : 0;
}

}  // namespace

std::size_t gpt2_ascii_piece_end(std::string_view text, std::size_t at) {
    const std::size_t size = text.size();
    if (text[at] == '\'') {
        if (const std::size_t length = contraction(text, at)) return at + length;
    }
    std::size_t end = at;
    CharacterKind first = kind(text[at]);
    if (text[at] == ' ' && at + 1 < size && kind(text[at + 1]) != kSpace) first = kind(text[++end]);  // the " ?"
    if (first == kBeyondAscii) return 0;
    for (++end; end < size && kind(text[end]) == first;) ++end;
    if (end == size) return end;
    if (kind(text[end]) == kBeyondAscii) return 0;
    // White space leaves its last character to a piece that follows: \s+(?!\S)
    return first == kSpace && end - at > 1 ? end - 1 : end;
}

std::size_t gpt2_safe_cut(std::string_view text, std::size_t from) {
    for (std::size_t at = from == 0 ? 1 : from; at < text.size(); ++at) {
        if (kind(text[at]) == kSpace && kind(text[at - 1]) == kLetter) return at;
    }
    return text.size();
}

}  // namespace inkling::data
