// Checks that a text is well-formed XML, as far as pictures use it:
//   CHECK(xml_fault(svg) == "");
#pragma once

#include "formats/utf8.h"

namespace inkling::testing {

inline std::string xml_fault(const std::string& text) {
    if (formats::find_invalid_utf8(text) != std::string::npos) return "not UTF-8";
    for (const unsigned char c : text)
        if (c < ' ' && c != '\n' && c != '\t') return "a control character";
    std::vector<std::string> open;
    const auto reference = [&](std::size_t at) {
        for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
            if (text.compare(at, std::string(known).size(), known) == 0) return true;
        return false;
    };
    bool root = false;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '&' && !reference(at)) return "& at " + std::to_string(at);
        if (text[at] != '<') {
            if (open.empty() && text[at] != '\n') return "text outside";
            ++at;
            continue;
        }
        if (open.empty() && root) return "a second root";
        root = true;
        std::size_t end = at + 1;
        for (char quote = 0; end < text.size() && (quote || text[end] != '>'); ++end) {
            if (text[end] == '<') return "< in a tag";
            if (text[end] == '&' && !reference(end)) return "& in a tag";
            if (text[end] == '"' || text[end] == '\'') quote = quote == text[end] ? 0 : quote ? quote : text[end];
        }
        if (end >= text.size()) return "a tag without end";
        const std::string tag = text.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find_first_of(" \n/", 1));
        if (tag.starts_with('/')) {
            if (open.empty() || open.back() != tag.substr(1)) return tag + " closes another";
            open.pop_back();
        } else if (!tag.ends_with('/')) {
            open.push_back(name);
        }
        at = end + 1;
    }
    return !open.empty() ? open.back() + " is open" : root ? "" : "no element";
}

}  // namespace inkling::testing
