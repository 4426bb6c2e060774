#include "formats/python_json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "formats/ascii.h"

namespace inkling::formats {
namespace {

constexpr std::string_view kMark("\0\0Python\0", 9), kMarkInJson = R"(\u0000\u0000Python\u0000)";
constexpr std::size_t kEscape = 6;  // bytes of \ud83d

// The UTF-16 unit that \uXXXX at text[at] stands for; 0: not an escape.
unsigned unit_at(std::string_view text, std::size_t at) {
    const std::string_view escape = text.substr(std::min(at, text.size()), kEscape);
    if (!escape.starts_with("\\u") || escape.size() < kEscape) return 0;
    return parse_number<unsigned>(escape.substr(2), 16).value_or(0);
}

bool is_high(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

// The place behind the string whose quote is text[at]; `halves`: the escapes in it that are half of a surrogate pair.
std::size_t pass_string(std::string_view text, std::size_t at, std::vector<std::size_t>& halves) {
    halves.clear();
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] != '\\') continue;
        const unsigned unit = unit_at(text, at);
        if (is_high(unit) && is_low(unit_at(text, at + kEscape)))
            at += kEscape;
        else if (is_high(unit) || is_low(unit))
            halves.push_back(at);
        ++at;
    }
    return std::min(at + 1, text.size());
}

bool is_key(std::string_view text, std::size_t behind) {
    behind = text.find_first_not_of(" \t\r\n", behind);
    return behind != std::string_view::npos && text[behind] == ':';
}

bool overflows(const std::string& number) {
    char* end = nullptr;
    return number.find_first_not_of("0123456789+-.eE") == std::string::npos &&
           std::isinf(std::strtod(number.c_str(), &end)) && *end == '\0';
}

}  // namespace

std::string python_values_marked(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& replaced) {
    std::string marked;
    std::size_t done = 0;  // bytes of text
    const auto replace = [&](std::size_t begin, std::size_t end, std::string_view before, std::string_view by,
                             std::string_view after) {
        marked.append(text.substr(done, begin - done)).append(before).append(by).append(after);
        replaced.emplace_back(marked.size(), done = end);
    };
    std::vector<std::size_t> halves;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        std::size_t end = at + 1;
        if (c == '"') {
            end = pass_string(text, at, halves);
            if (!halves.empty() && !is_key(text, end)) {
                replace(at, at + 1, "\"", kMarkInJson, "");
                for (const std::size_t half : halves)  // NUL and the digits
                    replace(half, half + kEscape, "\\u0000", text.substr(half + 2, 4), "");
            }
        } else if (c == 'N' || c == 'I' || c == '-' || (c >= '0' && c <= '9')) {
            while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '+' ||
                                         text[end] == '-' || text[end] == '.'))
                ++end;
            const std::string_view word = text.substr(at, end - at);
            if (word == "NaN" || word == "Infinity" || word == "-Infinity" ||
                (word.size() > 3 && overflows(std::string(word))))
                replace(at, end, "\"", std::string(kMarkInJson).append(word), "\"");
        }
        at = end;
    }
    if (!replaced.empty()) marked.append(text.substr(done));
    return marked;
}

std::optional<nlohmann::json::binary_t> python_value(std::string_view string) {
    if (!string.starts_with(kMark)) return std::nullopt;
    string.remove_prefix(kMark.size());
    std::vector<std::uint8_t> bytes;
    const bool number = string.find('\0') == std::string_view::npos;
    for (std::size_t at = 0; at < string.size(); ++at) {
        const std::string_view digits = string.substr(at + 1, 4);
        const unsigned unit = string[at] == '\0' ? parse_number<unsigned>(digits, 16).value_or(0) : 0;
        if (unit == 0) {
            bytes.push_back(static_cast<std::uint8_t>(string[at]));
            continue;
        }
        at += digits.size();
        if (unit < 0xDC80 || unit > 0xDCFF)  // no byte: the three that it would have as a character
            bytes.insert(bytes.end(), {static_cast<std::uint8_t>(0xE0 | (unit >> 12)),
                                       static_cast<std::uint8_t>(0x80 | ((unit >> 6) & 0x3F))});
        bytes.push_back(static_cast<std::uint8_t>(unit < 0xDC80 || unit > 0xDCFF ? 0x80 | (unit & 0x3F) : unit & 0xFF));
    }
    if (number) return nlohmann::json::binary_t(bytes);
    return nlohmann::json::binary_t(bytes, kBytesSubtype);
}

}  // namespace inkling::formats
