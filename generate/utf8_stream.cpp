#include "generate/utf8_stream.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "formats/utf8.h"

namespace inkling::generate {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

struct Part {
    std::size_t length;
    bool whole;  // the character's length was reached
};

// The number of leading bytes that form one character or a part of it; at least 1 (table 3-7 of the Unicode standard).
Part first_part(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const unsigned lead = byte(0);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0) return {1, true};
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size()) return {i, false};
        const unsigned low = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const unsigned high = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (byte(i) < low || byte(i) > high) return {i, true};
    }
    return {length, true};
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
    held_ += bytes;
    std::string text;
    std::string_view rest = held_;
    while (!rest.empty()) {
        const std::size_t valid = std::min(formats::find_invalid_utf8(rest), rest.size());
        text += rest.substr(0, valid);
        rest.remove_prefix(valid);
        if (rest.empty()) break;
        const Part part = first_part(rest);
        if (!part.whole) break;
        text += replacement;
        rest.remove_prefix(part.length);
    }
    held_ = std::string(rest);
    return text;
}

std::string Utf8Stream::finish() { return std::exchange(held_, "").empty() ? "" : std::string(replacement); }

std::string to_valid_utf8(std::string_view bytes) {
    Utf8Stream stream;
    const std::string text = stream.push(bytes);
    return text + stream.finish();
}

}  // namespace inkling::generate
