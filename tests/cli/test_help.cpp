// inkling, inkling help, --help and --help-all: in a pipe, and on terminals of any width.
#include <sstream>

#include "tests/cli/terminal.h"
#include "train/settings/settings.h"

using namespace inkling::testing;

namespace {

std::size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
}

void check_overview(const std::string& text) {
    for (const char* command :
         {"train", "generate", "eval", "tokenize", "attention", "export", "gradcheck", "info", "bench", "verify"})
        CHECK_THAT(text, contains(std::string("\n  ") + command + ' '));
    const std::size_t examples = text.find("Examples:");
    REQUIRE(examples != std::string::npos);
    std::istringstream lines(text.substr(examples));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) count += line.starts_with("    inkling ");
    CHECK(count == 3);
}

}  // namespace

TEST_CASE("help: inkling alone is wrong usage, and inkling help succeeds", "[cli]") {
    const Result alone = call({}), help = call({"help"});
    CHECK((alone.code == 2 && alone.out.empty()));
    check_overview(alone.err);
    CHECK((help.code == 0 && help.err.empty()));
    check_overview(help.out);
    CHECK(call({"--help"}).out == help.out);
    for (const Arguments& command : {Arguments{"train"}, Arguments{"generate"}, Arguments{"tokenize"},
                                     Arguments{"tokenize", "train"}, Arguments{"bench"}}) {
        const Result r = succeeded(call(Arguments{"help"} + command));
        CHECK(r.err.empty());
        CHECK(r.out == call(command + Arguments{"--help"}).out);
        CHECK_THAT(r.out, contains("Usage: inkling " + command[0]));
    }
}

TEST_CASE("help: flags of train are in groups, the common ones first, and all under --help-all", "[cli]") {
    const std::string help = call({"train", "--help"}).out, all = call({"train", "--help-all"}).out;
    std::size_t at = 0;
    for (const char* group : {"\nText:\n", "\nModel:\n", "\nTime:\n", "\nOptimizer:\n", "\nRun:\n"}) {
        INFO(group);
        CHECK(help.find(group) > at);
        at = help.find(group);
        REQUIRE(at != std::string::npos);
        CHECK(all.find(group) != std::string::npos);
    }
    const auto explained = [](const std::string& text, const std::string& flag) {
        return text.find("\n  --" + flag + ' ') != std::string::npos ||
               text.find("\n  --" + flag + '\n') != std::string::npos ||
               text.find("\n  --" + flag + ", ") != std::string::npos;
    };
    inkling::train::TrainOptions options;
    std::size_t rare = 0;
    for (const inkling::train::Setting& s : inkling::train::settings(options)) {
        INFO(s.name);
        CHECK(explained(all, s.name));
        CHECK_THAT(help, contains("--" + s.name));  // its name, at least
        CHECK(explained(help, s.name) == s.is(inkling::train::kUsual));
        rare += !explained(help, s.name);
    }
    for (const char* flag : {"json", "quiet", "dry-run", "recipe", "config"}) CHECK(explained(help, flag));
    CHECK(explained(all, "force"));
    CHECK(rare > 15);
    CHECK_THAT(help, contains("inkling train --help-all"));
    CHECK(call({"help", "train", "--all"}).out == all);
}

TEST_CASE("help: defaults are those of a plain run", "[cli]") {
    setenv("COLUMNS", "120", 1);
    const std::string all = call({"train", "--help-all"}).out, generate = program({"generate", "--help"}).out;
    unsetenv("COLUMNS");
    const auto text_of = [](const std::string& help, const std::string& flag) {
        const std::size_t begin = help.find("\n  " + flag + ' ');
        REQUIRE(begin != std::string::npos);
        const std::size_t end = help.find("\n  -", begin + 1);
        return help.substr(begin, end - begin);
    };
    for (const char* flag : {"--n-layer", "--batch-size", "--max-iters", "--precision", "--ema"})
        CHECK_THAT(text_of(all, flag), contains("(default: chosen by the recipe)"));
    CHECK_THAT(text_of(all, "--arch"), contains("(default: nanochat)"));
    CHECK_THAT(text_of(all, "--optimizer"), contains("(default: muon)"));
    CHECK_THAT(text_of(all, "--learning-rate"), contains("(default: 0.02)"));
    CHECK_THAT(text_of(all, "--max-time"), contains("(default: 60)"));
    CHECK_THAT(text_of(all, "--sampler"), contains("(default: paragraphs)"));  // of the built-in stories
    CHECK_THAT(text_of(all, "--val-fraction"), contains("(default: 0.025)"));
    CHECK_THAT(text_of(all, "--nesterov,"), contains("(default: on)"));
    CHECK(text_of(all, "--overwrite").find("default") == std::string::npos);
    CHECK_THAT(text_of(generate, "--seed"), contains("(default: another each time)"));
    CHECK_THAT(text_of(generate, "--model"), contains("(required)"));
}

TEST_CASE("help: lines end where the terminal does", "[cli]") {
    for (const auto columns : std::initializer_list<unsigned short>{40, 60, 80, 200}) {
        for (const Arguments& command : {Arguments{"help"}, Arguments{"help", "train"},
                                         Arguments{"train", "--help-all"}, Arguments{"attention", "--help"}}) {
            Terminal t(command, columns);
            CHECK(t.wait() == 0);
            std::string text = t.rest();
            text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
            CHECK(text.find('\x1B') == std::string::npos);
            if (columns >= 60) CHECK(longest_line(text) <= columns);
            if (columns == 200) CHECK(longest_line(text) <= 120);
            if (columns == 200 && command[0] == "train") CHECK(longest_line(text) > 100);
        }
    }
    CHECK(longest_line(call({"train", "--help-all"}).out) <= 80);
}
