// docs/NAME.md shows the code of docs/NAME_tutorial.cpp and its output.
#include "tests/cli/program.h"

using Lines = std::vector<std::string>;
const std::string kDocs = tests_path("../docs/");

// The fenced blocks of a page in one language.
static std::vector<Lines> blocks(const std::string& page, const std::string& language) {
    std::vector<Lines> found;
    bool inside = false, wanted = false;
    for (const std::string& line : lines_of(read_file(kDocs + page + ".md"))) {
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

const std::string kPages[] = {"attention", "learning"};

TEST_CASE("tutorials: a page shows its program's code, and what that prints", "[docs]") {
    for (const std::string& name : kPages) {
        Lines page;
        for (const Lines& block : blocks(name, "text")) page.insert(page.end(), block.begin(), block.end());
        const Lines program = lines_of(printed_by(kTutorials + ("/" + name + "_tutorial")));
        REQUIRE(page.size() > 40);
        for (std::size_t i = 0; i < std::min(page.size(), program.size()); ++i)
            WITH_INFO(name << ": line " << i + 1 << " of the output", REQUIRE(page[i] == program[i]));
        CHECK(page.size() == program.size());
    }
    for (const std::string& name : kPages) {
        const std::string program = read_file(kDocs + name + "_tutorial.cpp");
        const auto code = blocks(name, "cpp");
        REQUIRE(code.size() > 5);
        std::size_t from = 0;  // each block is a whole definition, or the whole body of a function, in order
        for (const Lines& block : code) {
            std::string definition = "\n", body = "() {\n";
            for (const std::string& line : block) {
                definition += line + "\n";
                body += line.empty() ? "\n" : "    " + line + "\n";
            }
            const std::size_t at = std::min(program.find(definition + "\n", from), program.find(body + "}\n", from));
            INFO(name << ":\n" << definition);
            REQUIRE(at != std::string::npos);
            from = at + definition.size();
        }
    }
}
