// Pages are put together of the files in web/report/pages/, which are built into the program: as one file that needs
// nothing else, or as a server's page that names its styles and scripts. Both read what they show from one JSON object,
// and no text of it ever becomes HTML.
//   write_file_atomic("report.html", page_file(kRunPage, "my run", data));
//   response.set_content(page_served(kRunPage, "my run", data), "text/html; charset=utf-8");
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::web {

struct PagePart {
    std::string_view name, text;
};
const std::vector<PagePart>& page_parts();  // by file name: "chart.js"

struct Page {
    std::string_view html;  // the part that is the page itself
    std::vector<std::string_view> styles, scripts;
};
extern const Page kAttentionPage, kRunPage, kPlaygroundPage;

inline constexpr std::string_view kAssets = "/pages/";  // where a server has the styles and scripts

struct Asset {
    std::string text;
    const char* type;
};
std::optional<Asset> asset(std::string_view name);  // of a style, a script or the icon

std::string page_file(const Page& page, std::string_view title, const nlohmann::ordered_json& data);
std::string page_served(const Page& page, std::string_view title, const nlohmann::ordered_json& data);

}  // namespace inkling::web
