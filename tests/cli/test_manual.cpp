// Pages of the manual and completion for shells: every command and flag is in them, as --help has it.
#include <regex>
#include <set>

#include "tests/cli/program.h"
#include "train/recipes.h"

using inkling::data::tests::ScratchFolder;
using namespace inkling::testing;

namespace {

struct Manual {
    ScratchFolder folder;
    Manual() { REQUIRE(call({"manual", folder.path("share")}).code == 0); }
    std::string path(const std::string& name) const { return folder.path("share/" + name); }
    std::string read(const std::string& name) const { return inkling::formats::read_file(path(name)); }
};

constexpr const char* kForBash = "bash-completion/completions/inkling";

std::vector<std::string> commands_in(const std::string& help) {
    std::vector<std::string> names;
    const std::size_t begin = help.find("\nCommands:\n");
    if (begin == std::string::npos) return names;
    std::istringstream lines(help.substr(begin + 11));
    for (std::string line; std::getline(lines, line) && !line.empty();)
        if (line.size() > 2 && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
    return names;
}

// The flags that begin a row of a help text: "--n-layer", "-p".
std::set<std::string> flags_in(const std::string& help) {
    std::set<std::string> flags;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("  -")) continue;
        std::istringstream words(line);
        for (std::string word; words >> word && word.starts_with('-');) {
            const bool more = word.ends_with(',');
            flags.insert(word.substr(0, word.size() - (more ? 1 : 0)));
            if (!more) break;
        }
    }
    return flags;
}

std::string typed(const std::string& flag) { return std::regex_replace(flag, std::regex("-"), "\\-"); }

Result run_program(Arguments arguments) {
    const std::string path = arguments.front();
    arguments.erase(arguments.begin());
    return Process(arguments, "", "/dev/null", nullptr, path).wait();
}

// What bash offers for the last of these words.
std::vector<std::string> offered(const Manual& manual, const Arguments& words) {
    const std::string script =
        "source \"$1\"; shift; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _inkling; printf '%s\\n' "
        "\"${COMPREPLY[@]}\"";
    const Result r =
        run_program(Arguments{"/bin/bash", "-c", script, "bash", manual.path(kForBash), "inkling"} + words);
    INFO(r.err);
    CHECK(r.code == 0);
    std::vector<std::string> found;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) found.push_back(line);
    return found;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("manual: each command has a page, and each flag is in it and in the completions", "[cli]") {
    const Manual manual;
    const std::string bash = manual.read(kForBash), zsh = manual.read("zsh/site-functions/_inkling"),
                      fish = manual.read("fish/vendor_completions.d/inkling.fish");
    const std::vector<std::string> commands = commands_in(call({"help"}).out);
    REQUIRE(commands.size() >= 13);
    const std::string overview = manual.read("man/man1/inkling.1");
    std::size_t count = 0;
    for (const std::string& command : commands) {
        INFO(command);
        CHECK_THAT(overview, ContainsSubstring(".BR inkling\\-" + command + " (1)"));
        const std::string page = manual.read("man/man1/inkling-" + command + ".1");
        CHECK_THAT(page, ContainsSubstring(".B inkling " + command));
        std::vector<Arguments> paths{{command}};
        for (const std::string& part : commands_in(call({"help", command}).out)) paths.push_back({command, part});
        for (const Arguments& path : paths) {
            const std::string all = command == "train" ? "--help-all" : "--help";
            const std::set<std::string> flags = flags_in(call(path + Arguments{all}).out);
            CHECK(flags.contains("--help") == (path.size() > 1 || paths.size() == 1));  // those of a part are its own
            std::string name;
            for (const std::string& word : path) name += "/" + word;
            const std::size_t at = bash.find("        '" + name + "')\n            flags='");
            REQUIRE(at != std::string::npos);
            const std::string for_bash = bash.substr(at, bash.find("\n            ;;", at) - at) + "'";
            for (const std::string& flag : flags) {
                INFO(flag);
                CHECK_THAT(page, ContainsSubstring("\\fB" + typed(flag) + "\\fR"));
                CHECK(std::regex_search(for_bash, std::regex("[ ']" + flag + "[ ']")));
                CHECK_THAT(zsh, ContainsSubstring(flag + "["));
                const std::string for_fish =
                    (flag.starts_with("--") ? " -l " : " -s ") + flag.substr(flag.find_first_not_of('-')) + " ";
                CHECK_THAT(fish, ContainsSubstring(for_fish));
                ++count;
            }
        }
    }
    CHECK(count > 200);
}

TEST_CASE("manual: pages and completions are right in their languages", "[cli]") {
    const Manual manual;
    const auto check_with = [&](const std::string& path, const Arguments& rest) {
        if (access(path.c_str(), X_OK) != 0) return false;
        const Result r = run_program(Arguments{path} + rest);
        INFO(path << ' ' << rest.back() << ": " << r.err << r.out);
        CHECK(r.code == 0);
        CHECK(r.err.empty());
        return true;
    };
    CHECK(check_with("/bin/bash", {"-n", manual.path(kForBash)}));
    check_with("/usr/bin/zsh", {"-n", manual.path("zsh/site-functions/_inkling")});
    check_with("/usr/bin/fish", {"-n", manual.path("fish/vendor_completions.d/inkling.fish")});
    for (const auto& page : std::filesystem::directory_iterator(manual.path("man/man1"))) {
        check_with("/usr/bin/mandoc", {"-Tlint", "-Wwarning", page.path().string()});
        check_with("/usr/bin/groff", {"-man", "-ww", "-z", page.path().string()});
        const std::string text = manual.read("man/man1/" + page.path().filename().string());
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            INFO(line);
            CHECK(line.size() < 120);
            CHECK(line.find('\'') == std::string::npos);
            if (line.starts_with('.'))
                CHECK(std::regex_search(line, std::regex("^\\.(TH|SH|SS|TP|PP|B|BR|br|nf|fi)\\b")));
        }
    }
}

TEST_CASE("manual: bash completes commands, flags, names and files", "[cli]") {
    const Manual manual;
    CHECK(offered(manual, {"tr"}) == std::vector<std::string>{"train"});
    CHECK(offered(manual, {"help", "gradc"}) == std::vector<std::string>{"gradcheck"});
    CHECK(offered(manual, {"tokenize", "e"}) == std::vector<std::string>{"encode"});
    CHECK(offered(manual, {"train", "--reci"}) == std::vector<std::string>{"--recipe"});
    CHECK(offered(manual, {"train", "--recipe", ""}) == inkling::train::recipe_names());
    CHECK(offered(manual, {"train", "--recipe", "=", "nanogpt-c"}) == std::vector<std::string>{"nanogpt-cpu"});
    CHECK(has(offered(manual, {"train", "--arch", ""}), "gpt-neox"));
    CHECK(offered(manual, {"tokenize", "train", "--pre_tokenizer", "ll"}) == std::vector<std::string>{"llama3"});
    CHECK(has(offered(manual, {"generate", "--"}), "--max-tokens"));
    CHECK(!has(offered(manual, {"generate", "--"}), "--recipe"));
    CHECK(offered(manual, {"train", "--n-layer", ""}).empty());
    CHECK(offered(manual, {"train", "--data", manual.path("bash")}) ==
          std::vector<std::string>{manual.path("bash-completion")});
    CHECK(offered(manual, {"generate", "--model", manual.path("f")}) == std::vector<std::string>{manual.path("fish")});
    CHECK(offered(manual, {"generate", "--model", manual.path(kForBash)}).empty());  // it is no folder
}

// A new flag that takes names or paths is completed, or named here.
TEST_CASE("manual: each flag that takes a text is completed, or takes any", "[cli]") {
    const std::set<std::string> any = {"--exclude", "--text-field", "--text-column", "--serve",       "--sample-prompt",
                                       "--prompt",  "--stop",       "--system",      "--host",        "--filter",
                                       "--head",    "--max-time",   "--allow-host",  "--allow-origin"};
    const Manual manual;
    const std::string bash = manual.read(kForBash);
    std::size_t count = 0;
    for (const std::string& command : commands_in(call({"help"}).out)) {
        const std::string all = command == "train" ? "--help-all" : "--help";
        std::istringstream lines(call({command, all}).out);
        for (std::string line; std::getline(lines, line);) {
            std::smatch found;
            if (!std::regex_search(line, found, std::regex("^  .*(--[a-z-]+) TEXT"))) continue;
            INFO(command << ' ' << line);
            if (any.contains(found[1])) continue;
            const std::size_t at = bash.find("/" + command + ":" + found[1].str());
            REQUIRE(at != std::string::npos);
            const std::string entry = bash.substr(at, bash.find(";;", at) - at);
            CHECK((entry.find("words=") != std::string::npos || entry.find("kind=") != std::string::npos));
            ++count;
        }
    }
    CHECK(count > 20);
}
