// docs/attention.md against the program whose code it shows: docs/attention_tutorial.cpp.
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/cli/program.h"

namespace {

using Lines = std::vector<std::string>;
const std::string kDocs = inkling::testing::tests_path("../docs/");

Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// The fenced blocks of the page in one language.
std::vector<Lines> blocks(const std::string& language) {
    std::vector<Lines> found;
    bool inside = false, wanted = false;
    for (const std::string& line : lines_of(read_file(kDocs + "attention.md"))) {
        if (line.starts_with("```")) {
            inside = !inside;
            wanted = inside && line == "```" + language;
            if (wanted) found.emplace_back();
        } else if (wanted) {
            found.back().push_back(line);
        }
    }
    return found;
}

}  // namespace

TEST_CASE("attention tutorial: the page shows what the program prints", "[docs]") {
    Lines page;
    for (const Lines& block : blocks("text")) page.insert(page.end(), block.begin(), block.end());
    const Lines program = lines_of(inkling::testing::printed_by(inkling::testing::kTutorial));
    REQUIRE(page.size() > 100);
    for (std::size_t i = 0; i < std::min(page.size(), program.size()); ++i) {
        INFO("line " << i + 1 << " of the output");
        REQUIRE(page[i] == program[i]);
    }
    CHECK(page.size() == program.size());
}

TEST_CASE("attention tutorial: the page's code is the program's", "[docs]") {
    const std::string program = read_file(kDocs + "attention_tutorial.cpp");
    const auto code = blocks("cpp");
    REQUIRE(code.size() > 10);
    std::size_t from = 0;  // blocks are whole functions, in the program's order
    for (const Lines& block : code) {
        std::string body = "() {\n";
        for (const std::string& line : block) body += line.empty() ? "\n" : "    " + line + "\n";
        const std::size_t at = program.find(body + "}\n", from);
        INFO(body);
        REQUIRE(at != std::string::npos);
        from = at + body.size();
    }
}
