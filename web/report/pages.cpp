#include "web/report/pages.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "formats/sha256.h"
#include "generate/utf8_stream.h"

namespace inkling::web {

constexpr const char* kNoCharacter = "\xEF\xBF\xBD";  // U+FFFD

std::string escape_markup(std::string_view text) {
    static const std::map<char, std::string_view> kEscapes = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    std::string result;
    for (const char c : generate::to_valid_utf8(text)) {
        const bool control = static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t';
        if (const auto found = kEscapes.find(c); found != kEscapes.end())
            result += found->second;
        else
            control ? result += kNoCharacter : result += c;
    }
    for (const char* const none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})  // U+FFFE, U+FFFF
        for (std::size_t at = 0; (at = result.find(none, at)) != std::string::npos;)
            result.replace(at, 3, kNoCharacter);
    return result;
}

const Page kAttentionPage = {"attention.html",
                             {"base.css", "heads.css"},
                             {"page.js", "heads_data.js", "heads_map.js", "heads.js", "attention.js"}};
const Page kRunPage = {"run.html",
                       {"base.css", "heads.css", "run.css"},
                       {"page.js", "server.js", "chart.js", "curves.js", "heads_data.js", "heads_map.js", "heads.js",
                        "tables.js", "samples.js", "run.js"}};
const Page kPlaygroundPage = {
    "play.html", {"base.css", "play.css"}, {"page.js", "server.js", "play_tokens.js", "play_settings.js", "play.js"}};

namespace {

// For the inside of <script>, where "</script" and "<!--" have a meaning even within strings. ASCII output; bytes that
// are not UTF-8 become U+FFFD.
std::string for_script(const nlohmann::ordered_json& data) {
    std::string text;
    for (const char c : data.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
        if (c == '<' || c == '>' || c == '&') {
            text += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
            text += c;
        }
    }
    return text;
}

// Replaces each {{name}} of the template, once: values are not expanded again.
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

std::string_view part(std::string_view name) {
    for (const PagePart& p : page_parts())
        if (p.name == name) return p.text;
    throw Error(fmt::format("there is no page file {}", name));
}

// The hash that names an inline style or script in the Content-Security-Policy.
std::string hash(const std::string& text) {
    return fmt::format(" 'sha256-{}'", formats::base64(formats::sha256(text)));
}

std::string filled(const Page& page, std::string_view title, const nlohmann::ordered_json& data,
                   const std::string& head, const std::string& scripts) {
    const std::string name = escape_markup(title);
    const std::string body = fill(part(page.html), {{"title", name}, {"heads.html", std::string(part("heads.html"))}});
    return fill(part("page.html"),
                {{"title", name}, {"head", head}, {"body", body}, {"data", for_script(data)}, {"scripts", scripts}});
}

}  // namespace

std::optional<Asset> asset(std::string_view name) {
    if (name == "icon.svg") return Asset{std::string(part(name)), "image/svg+xml"};
    for (const Page* page : {&kAttentionPage, &kRunPage, &kPlaygroundPage}) {
        for (const std::string_view style : page->styles)
            if (style == name) return Asset{std::string(part(name)), "text/css; charset=utf-8"};
        for (const std::string_view other : page->scripts)
            if (other == name) return Asset{std::string(part(name)), "text/javascript; charset=utf-8"};
    }
    return std::nullopt;
}

std::string page_file(const Page& page, std::string_view title, const nlohmann::ordered_json& data) {
    std::string style, code;
    for (const std::string_view name : page.styles) style.append("\n").append(part(name));
    for (const std::string_view name : page.scripts) code.append("\n").append(part(name));
    const std::string head = fmt::format(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src{}; script-src{}\">\n"
        "<style>{}</style>",
        hash(style), hash(code), style);
    return filled(page, title, data, head, "<script>" + code + "</script>");
}

std::string page_served(const Page& page, std::string_view title, const nlohmann::ordered_json& data) {
    std::string head = fmt::format("<link rel=\"icon\" href=\"{}icon.svg\">", kAssets), scripts;
    for (const std::string_view name : page.styles)
        head += fmt::format("\n<link rel=\"stylesheet\" href=\"{}{}\">", kAssets, name);
    for (const std::string_view name : page.scripts)
        scripts += fmt::format("<script src=\"{}{}\"></script>\n", kAssets, name);
    return filled(page, title, data, head, scripts);
}

}  // namespace inkling::web
