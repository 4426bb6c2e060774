#include "web/report/pages.h"

#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "formats/sha256.h"
#include "web/report/markup.h"

namespace inkling::web {

const Page kAttentionPage = {"attention.html", {"base.css", "heads.css"}, {"heads.js", "attention.js"}};
const Page kRunPage = {"run.html",
                       {"base.css", "heads.css", "run.css"},
                       {"page.js", "chart.js", "curves.js", "heads.js", "tables.js", "samples.js", "run.js"}};
const Page kPlaygroundPage = {
    "play.html", {"base.css", "play.css"}, {"page.js", "play_tokens.js", "play_settings.js", "play.js"}};

namespace {

std::string_view part(std::string_view name) {
    for (const PagePart& p : page_parts())
        if (p.name == name) return p.text;
    throw Error(fmt::format("there is no part of a page called {}", name));
}

// heads.js becomes a function, so that a page can show heads again.
std::string script(std::string_view name) {
    if (name != "heads.js") return std::string(part(name));
    return fmt::format("\"use strict\";\nfunction show_heads(data) {{\n{}{}{}}}\n", part("heads_data.js"),
                       part("heads_map.js"), part("heads.js"));
}

// The hash that names an inline style or script in the Content-Security-Policy.
std::string hash(const std::string& text) {
    return fmt::format(" 'sha256-{}'", formats::base64(formats::sha256(text)));
}

std::string filled(const Page& page, std::string_view title, const nlohmann::ordered_json& data,
                   const std::string& head, const std::string& scripts) {
    return fill(part(page.html), {{"title", escape_markup(title)},
                                  {"head", head},
                                  {"heads.html", std::string(part("heads.html"))},
                                  {"data", for_script(data)},
                                  {"scripts", scripts}});
}

}  // namespace

std::optional<Asset> asset(std::string_view name) {
    if (name == "icon.svg") return Asset{std::string(part(name)), "image/svg+xml"};
    for (const Page* page : {&kAttentionPage, &kRunPage, &kPlaygroundPage}) {
        for (const std::string_view style : page->styles)
            if (style == name) return Asset{std::string(part(name)), "text/css; charset=utf-8"};
        for (const std::string_view other : page->scripts)
            if (other == name) return Asset{script(name), "text/javascript; charset=utf-8"};
    }
    return std::nullopt;
}

std::string page_file(const Page& page, std::string_view title, const nlohmann::ordered_json& data) {
    std::string style, code;
    for (const std::string_view name : page.styles) style.append("\n").append(part(name));
    for (const std::string_view name : page.scripts) code.append("\n").append(script(name));
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
