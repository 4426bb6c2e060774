// Pages are assembled from the files of web/report/pages/, which are built into the program: as one self-contained
// file, or as a server's page that links its styles and scripts. Both show the data of one JSON object, and no text of
// it ever becomes HTML.
//   write_file_atomic("report.html", page_file(kRunPage, "my run", data));
//   return {.type = "text/html; charset=utf-8", .body = page_served(kRunPage, "my run", data)};
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::web {

// For the text and the quoted attributes of HTML and SVG. What XML cannot hold becomes U+FFFD: control characters, and
// bytes that are not UTF-8.
std::string escape_markup(std::string_view text);

struct PagePart {
    std::string_view name, text;
};
const std::vector<PagePart>& page_parts();  // by file name: "chart.js"

struct Page {
    std::string_view html;  // the body, within page.html
    std::vector<std::string_view> styles, scripts;
};
extern const Page kAttentionPage, kRunPage, kPlaygroundPage;

inline constexpr std::string_view kAssets = "/pages/";  // path prefix of styles and scripts

struct Asset {
    std::string text;
    const char* type;
};
std::optional<Asset> asset(std::string_view name);  // a style, a script or the icon

std::string page_file(const Page& page, std::string_view title, const nlohmann::ordered_json& data);
std::string page_served(const Page& page, std::string_view title, const nlohmann::ordered_json& data);

}  // namespace inkling::web
