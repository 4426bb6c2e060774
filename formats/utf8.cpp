#include "formats/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/base/check.h"
#include "formats/ascii.h"

namespace inkling::formats {

namespace {

bool is_scalar_value(char32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& offset) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t begin = offset++;
    const unsigned lead = byte(begin);
    if (lead < 0x80) return static_cast<char32_t>(lead);

    // Lead bytes C0, C1 (overlong) and F5..FF (too large) fall out of the value checks below, as do continuation bytes.
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC0 || lead > 0xF7 || text.size() - begin < length) return invalid_code_point;
    char32_t c = lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(begin + i) & 0xC0) != 0x80) return invalid_code_point;
        c = (c << 6) | (byte(begin + i) & 0x3Fu);
    }
    constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};  // by length: anything below is overlong
    if (c < smallest[length] || !is_scalar_value(c)) return invalid_code_point;
    offset = begin + length;
    return c;
}

char32_t previous_code_point(std::string_view text, std::size_t& end) {
    const std::string_view before = text.substr(0, end--);
    for (std::size_t size = 1; size <= std::min<std::size_t>(4, before.size()); ++size) {
        std::size_t at = before.size() - size;
        const std::size_t begin = at;
        const char32_t c = next_code_point(before, at);
        if (c == invalid_code_point || at != before.size()) continue;
        end = begin;
        return c;
    }
    return invalid_code_point;
}

char32_t valid_code_point(std::string_view text, std::size_t& offset) {
    const std::size_t begin = offset;
    const char32_t c = next_code_point(text, offset);
    check<BadInput>(c != invalid_code_point, "the text is not UTF-8: byte {} is 0x{:02X}", begin,
                    static_cast<unsigned char>(text[begin]));
    return c;
}

std::size_t find_invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::uint64_t eight = 0;
        if (text.size() - at >= sizeof eight) {
            std::memcpy(&eight, text.data() + at, sizeof eight);
            if ((eight & 0x8080808080808080u) == 0) {  // all ASCII
                at += sizeof eight;
                continue;
            }
        }
        const std::size_t begin = at;
        if (next_code_point(text, at) == invalid_code_point) return begin;
    }
    return std::string_view::npos;
}

std::size_t invalid_utf8_size(std::string_view text, std::size_t at) {
    // A beginning is valid if it becomes a character with continuation bytes behind it.
    const std::string_view beginning = text.substr(at, 3);
    for (std::size_t size = beginning.size(); size > 1; --size) {
        std::string completed(beginning.substr(0, size));
        while (completed.size() < 4) {
            completed += '\x80';
            std::size_t end = 0;
            if (next_code_point(completed, end) != invalid_code_point && end == completed.size()) return size;
        }
    }
    return 1;
}

std::vector<char32_t> to_code_points(std::string_view text) {
    std::vector<char32_t> points;
    points.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) points.push_back(valid_code_point(text, at));
    return points;
}

bool is_white_space(char32_t c) {
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::pair<std::size_t, std::size_t> stripped(std::string_view text, const std::function<bool(char32_t)>& strip,
                                             bool left, bool right) {
    std::size_t begin = 0, end = text.size();
    for (std::size_t next = 0; left && begin < end && strip(next_code_point(text, next));) begin = next;
    for (std::size_t before = end; right && begin < end && strip(previous_code_point(text, before));) end = before;
    return {begin, end};
}

std::string to_percent(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("-._~/").find(c) != std::string_view::npos;
        text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return text;
}

std::string from_percent(std::string_view text, const std::string& what) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned byte = static_cast<unsigned char>(text[at]);
        if (text[at] == '%') {
            const std::string_view digits = text.substr(at + 1, 2);
            const auto number = parse_number<unsigned>(digits, 16);
            check<BadInput>(digits.size() == 2 && number, "{}: '%' must be followed by two hexadecimal digits", what);
            byte = *number;
            at += 2;
        }
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

void append_utf8(std::string& text, char32_t code_point) {
    check(is_scalar_value(code_point), "append_utf8: a code point is at most U+10FFFF and no surrogate, got 0x{:X}",
          static_cast<std::uint32_t>(code_point));
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
    text.append(bytes, bytes + size);
}

}  // namespace inkling::formats
