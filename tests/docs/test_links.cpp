// In the pages, every relative link leads to a file, every link to a section has its heading, and every named path
// exists.
#include <filesystem>
#include <regex>
#include <set>

#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace fs = std::filesystem;
using inkling::formats::read_file;

namespace {

// A page without its code blocks.
std::string prose(const fs::path& page) {
    std::istringstream lines(read_file(page));
    std::string text;
    bool code = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) {
            code = !code;
        } else if (!code) {
            text += line + "\n";
        }
    }
    return text;
}

// Whether a page has the heading of a link: #what-to-do is "What to do".
bool has_heading(const fs::path& page, const std::string& name) {
    std::istringstream lines(prose(page));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("#")) continue;
        std::string found;
        for (const char c : line.substr(std::min(line.find(' '), line.size() - 1) + 1)) {
            const auto byte = static_cast<unsigned char>(c);
            if (std::isalnum(byte) || c == '-' || c == '_' || byte >= 0x80)
                found += static_cast<char>(std::tolower(byte));
            if (c == ' ') found += '-';
        }
        if (found == name) return true;
    }
    return false;
}

std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
    return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

}  // namespace

TEST_CASE("pages: links and paths lead somewhere", "[docs]") {
    const fs::path root = fs::path(inkling::testing::tests_path("")).parent_path().parent_path();
    std::vector<fs::path> pages = {root / "README.md"};
    for (const char* folder : {"docs", "bench", "examples"})
        for (const auto& file : fs::directory_iterator(root / folder))
            if (file.path().extension() == ".md") pages.push_back(file.path());
    const std::regex link(R"(\]\(([^)\s#:]*)(?:#([^)\s]+))?\))"), path(R"(`((?:\w+/)+[\w.]+\.\w+)`)");
    const std::set<std::string> made = {"build", "out", "runs"};  // by builds and runs; .gitignore has them
    std::size_t links = 0, paths = 0;
    for (const fs::path& page : pages) {
        const std::string text = prose(page);
        for (const std::smatch& m : matches(text, link)) {
            INFO(page << ": " << m.str());
            const fs::path to = m[1].length() ? page.parent_path() / m[1].str() : page;
            CHECK(fs::exists(to));
            if (m[2].matched) CHECK(has_heading(to, m[2]));
            ++links;
        }
        for (const std::smatch& m : matches(text, path)) {
            const std::string name = m[1];
            const std::string top = name.substr(0, name.find('/'));
            if (!fs::is_directory(root / top) || name.find("NAME") != std::string::npos || made.contains(top)) continue;
            INFO(page << ": " << name);
            CHECK(fs::exists(root / name));
            ++paths;
        }
    }
    CHECK(links > 50);
    CHECK(paths > 50);
}
