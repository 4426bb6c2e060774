// inkling, inkling help, --help and --help-all: in a pipe, and on terminals of any width.
#include "tests/cli/terminal.h"
#include "train/settings/settings.h"

static std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    for (const std::string& line : lines_of(text)) longest = std::max(longest, line.size());
    return longest;
}

static void check_overview(const std::string& text) {
    for (const char* command :
         {"train", "generate", "eval", "tokenize", "attention", "export", "gradcheck", "info", "bench", "verify"})
        check_has(text, std::string("\n  ") + command + ' ');
    const std::size_t examples = text.find("Examples:");
    REQUIRE(examples != std::string::npos);
    const auto lines = lines_of(text.substr(examples));
    CHECK(std::count_if(lines.begin(), lines.end(), [](auto& line) { return line.starts_with("    inkling "); }) == 3);
}

TEST_CASE("help: inkling alone is wrong usage, and inkling help succeeds", "[cli]") {
    const Result alone = call({}), help = call("help");
    CHECK_ALL(alone.code == 2, alone.out.empty());
    check_overview(alone.err);
    CHECK(succeeded(help).err.empty());
    check_overview(help.out);
    CHECK(call("--help").out == help.out);
    for (const Arguments& command :
         {words("train"), words("generate"), words("tokenize"), words("tokenize train"), words("bench")}) {
        const Result r = succeeded(call("help", command));
        CHECK_ALL(r.err.empty(), r.out == call(command + "--help").out);
        check_has(r.out, "Usage: inkling " + command[0]);
    }
}

TEST_CASE("help: flags of train are in groups, the common ones first, and all under --help-all", "[cli]") {
    const std::string help = call("train --help").out, all = call("train --help-all").out;
    std::size_t at = 0;
    for (const char* group :
         {"\nText (default *: chosen by the recipe):\n", "\nModel (default *: chosen by the recipe):\n",
          "\nTime (default *: chosen by the recipe):\n", "\nOptimizer (default *: chosen by the recipe):\n",
          "\nAdapters:\n", "\nRun"}) {
        INFO(group);
        CHECK(help.find(group) > at);
        at = help.find(group);
        REQUIRE(at != std::string::npos);
        check_has(all, group);
    }
    const auto explained = [](const std::string& text, const std::string& flag) {
        return text.find("\n  --" + flag + ' ') != std::string::npos ||
               text.find("\n  --" + flag + '\n') != std::string::npos ||
               text.find("\n  --" + flag + ", ") != std::string::npos;
    };
    std::size_t rare = 0;
    for (const inkling::train::Setting& s : inkling::train::settings()) {
        INFO(s.name);
        CHECK(explained(all, s.name));
        check_has(help, "--" + s.name);  // its name, at least
        CHECK(explained(help, s.name) == s.is(inkling::train::kUsual));
        rare += !explained(help, s.name);
    }
    CHECK(rare > 15);
    check_has(help, "inkling train --help-all");
    CHECK(call("help train --all").out == all);
}

TEST_CASE("help: defaults are those of a plain run, and values have names", "[cli]") {
    const Variables wide = {{"COLUMNS", "120"}};
    const std::string all = program_with(wide, words("train --help-all")).out,
                      generate = program_with(wide, words("generate --help")).out;
    for (const char* flag :
         {"--n-layer", "--batch-size", "--max-iters", "--precision", "--ema", "--sampler", "--learning-rate"})
        check_has(about_flag(all, flag), "(default: *)");
    for (const auto& [flag, value] : std::vector<std::pair<std::string, std::string>>{
             {"--arch", "nanochat"}, {"--optimizer", "muon"}, {"--max-time", "60"}, {"--nesterov,", "on"}})
        check_has(about_flag(all, flag), "(default: " + value + ")");
    CHECK(about_flag(all, "--overwrite").find("default") == std::string::npos);
    check_has(about_flag(generate, "--seed"), "(default: random)");
    check_has(about_flag(generate, "--model"), "(required)");
    for (const char* flag : {"--out DIR", "--data FILE", "--max-time DURATION", "--n-layer N", "--dropout X",
                             "--sampler NAME", "--init-from MODEL", "--exclude GLOB", "--save-at STEPS"})
        check_has(all, std::string("\n  ") + flag);
    for (const char* flag : {"--model MODEL", "--adapter DIR", "-f, --prompt-file FILE", "--precision NAME",
                             "-n, --max-tokens N", "--stop TEXT"})
        check_has(generate, std::string("\n  ") + flag);
}

TEST_CASE("help: lines end where the terminal does", "[cli]") {
    for (const auto columns : std::initializer_list<unsigned short>{40, 60, 80, 200})
        for (const Arguments& command :
             {words("help"), words("help train"), words("train --help-all"), words("attention --help")}) {
            Terminal t(command, columns);
            CHECK(t.wait() == 0);
            std::string text = t.rest();
            text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
            CHECK(text.find('\x1B') == std::string::npos);
            if (columns >= 60) CHECK(longest_line(text) <= columns);
            if (columns == 200) CHECK(longest_line(text) <= 120);
            if (columns == 200 && command[0] == "train") CHECK(longest_line(text) > 100);
        }
    CHECK(longest_line(call("train --help-all").out) <= 80);
}
