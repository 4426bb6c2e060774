// The JSON data inside a page:
//   CHECK(page_data(read_file("report.html"))["runs"].size() == 1);
#pragma once

namespace inkling::testing {

inline nlohmann::json page_data(const std::string& page) {
    const std::string opening = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = page.find(opening) + opening.size();
    return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace inkling::testing
