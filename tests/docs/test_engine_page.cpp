// docs/engine.md promises an evening: few files, few lines, and each file is there.
#include <algorithm>
#include <regex>

#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/paths.h"

using inkling::formats::read_file;
using inkling::testing::tests_path;

TEST_CASE("pages: the engine is read in at most 2,500 lines and 18 files", "[docs]") {
    const std::string page = read_file(tests_path("../docs/engine.md"));
    const std::regex row(R"(\| \[([\w/.]+)\]\(\.\./\1\) \| (\d+) \|)");
    std::size_t files = 0, lines = 0;
    for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
        INFO((*at)[1]);
        const std::string code = read_file(tests_path("../" + (*at)[1].str()));
        const auto count = static_cast<std::size_t>(std::count(code.begin(), code.end(), '\n'));
        const double told = std::stod((*at)[2]);
        CHECK(static_cast<double>(count) == Approx(told).epsilon(0.1).margin(3));
        ++files, lines += count;
    }
    CHECK(files >= 15);
    CHECK(files <= 18);
    CHECK(lines <= 2500);
}
