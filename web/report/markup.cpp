#include "web/report/markup.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "generate/utf8_stream.h"

namespace inkling::web {

constexpr const char* kNoCharacter = "\xEF\xBF\xBD";  // U+FFFD

std::string escape_markup(std::string_view text) {
    std::string result;
    for (const char c : generate::to_valid_utf8(text)) {
        switch (c) {
            case '\n':
            case '\t':
                result += c;
                break;
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default:
                static_cast<unsigned char>(c) < ' ' ? result += kNoCharacter : result += c;
        }
    }
    for (const char* const none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})  // U+FFFE, U+FFFF
        for (std::size_t at = 0; (at = result.find(none, at)) != std::string::npos;)
            result.replace(at, 3, kNoCharacter);
    return result;
}

std::string for_script(const nlohmann::ordered_json& json) {
    std::string text;
    for (const char c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
        if (c == '<' || c == '>' || c == '&') {
            text += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
            text += c;
        }
    }
    return text;
}

std::string fill(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts) {
    std::string result;
    for (std::size_t at = 0;;) {
        const std::size_t begin = page.find("{{", at), end = page.find("}}", begin);
        if (end == std::string_view::npos) return result.append(page.substr(at));
        result.append(page.substr(at, begin - at));
        for (const auto& [name, text] : parts)
            if (name == page.substr(begin + 2, end - begin - 2)) result += text;
        at = end + 2;
    }
}

}  // namespace inkling::web
