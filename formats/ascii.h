// Numbers and letters of ASCII text, whatever the locale.
//   parse_number<double>("1e3")       // nullopt if anything else is in the text
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace inkling::formats {

template <class Number, class... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

inline std::string lower(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

}  // namespace inkling::formats
