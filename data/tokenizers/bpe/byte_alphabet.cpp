#include "data/tokenizers/bpe/byte_alphabet.h"

#include <fmt/core.h>

#include "formats/ascii.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

constexpr bool stands_for_itself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr char32_t past_letters = 0x100 + 68;

// The byte of each code point, or -1.
std::array<int, past_letters> make_bytes() {
    std::array<int, past_letters> bytes;
    bytes.fill(-1);
    for (unsigned byte = 0; byte < 256; ++byte) bytes[byte_letters()[byte]] = static_cast<int>(byte);
    return bytes;
}

}  // namespace

const std::array<char32_t, 256>& byte_letters() {
    static const auto letters = [] {
        std::array<char32_t, 256> made;
        char32_t next = 0x100;
        for (unsigned byte = 0; byte < 256; ++byte) made[byte] = stands_for_itself(byte) ? byte : next++;
        return made;
    }();
    return letters;
}

std::string to_byte_letters(std::string_view bytes) {
    std::string letters;
    letters.reserve(bytes.size() + bytes.size() / 4);
    for (const char c : bytes) formats::append_utf8(letters, byte_letters()[static_cast<unsigned char>(c)]);
    return letters;
}

std::optional<std::string> from_byte_letters(std::string_view letters) {
    static const auto bytes = make_bytes();
    std::string result;
    result.reserve(letters.size());
    for (std::size_t at = 0; at < letters.size();) {
        const char32_t c = formats::next_code_point(letters, at);
        if (c >= past_letters || bytes[c] < 0) return std::nullopt;
        result.push_back(static_cast<char>(bytes[c]));
    }
    return result;
}

std::string fallback_token(char byte) { return fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte)); }

std::optional<char> fallback_byte(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
    const std::size_t plus = token[3] == '+';  // as Rust reads numbers
    const auto byte = formats::parse_number<unsigned>(token.substr(3 + plus, 2 - plus), 16);
    return byte ? std::optional(static_cast<char>(*byte)) : std::nullopt;
}

}  // namespace inkling::data
