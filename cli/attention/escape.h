// Text inside markup, where it may not end what it stands in.
#pragma once

#include <string>
#include <string_view>

namespace inkling::cli {

// For the text and the quoted attributes of HTML and SVG.
inline std::string escape_markup(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
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
                result += c;
        }
    }
    return result;
}

}  // namespace inkling::cli
