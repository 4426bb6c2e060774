// Manual pages and completion for shells: they have every command and flag of --help.
#include <regex>
#include <set>

#include "tests/cli/program.h"
#include "train/recipes/recipes.h"

using namespace inkling::testing;

namespace {

struct Manual {
    ScratchFolder folder;
    Manual() { succeeded(call({"manual", folder.path("share")})); }
    std::string path(const std::string& name) const { return folder.path("share/" + name); }
    std::string read(const std::string& name) const { return read_file(path(name)); }
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

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<std::string> words_of(const Result& r) {  // without what stands behind them
    INFO(r.err);
    CHECK(r.code == 0);
    std::vector<std::string> found;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) found.push_back(line.substr(0, line.find('\t')));
    return found;
}

// The program's completions of the last of these words.
std::vector<std::string> completed(const Arguments& words) { return words_of(call(Arguments{"__complete"} + words)); }

// The completions of bash.
std::vector<std::string> offered(const Manual& manual, const Arguments& words) {
    const std::string script =
        "source \"$1\"; shift; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _inkling; printf '%s\\n' "
        "\"${COMPREPLY[@]}\"";
    return words_of(run_program(Arguments{"/bin/bash", "-c", script, "bash", manual.path(kForBash), kProgram} + words));
}

}  // namespace

TEST_CASE("manual: each command has a page, and each flag is in it and is completed", "[cli]") {
    const Manual manual;
    const std::vector<std::string> commands = commands_in(call({"help"}).out);
    REQUIRE(commands.size() >= 13);
    const std::string overview = manual.read("man/man1/inkling.1");
    std::size_t count = 0;
    for (const std::string& command : commands) {
        INFO(command);
        CHECK_THAT(overview, contains(".BR inkling\\-" + command + " (1)"));
        const std::string page = manual.read("man/man1/inkling-" + command + ".1");
        CHECK_THAT(page, contains(".B inkling " + command));
        std::vector<Arguments> paths{{command}};
        for (const std::string& part : commands_in(call({"help", command}).out)) paths.push_back({command, part});
        for (const Arguments& path : paths) {
            const std::string all = command == "train" ? "--help-all" : "--help";
            const std::set<std::string> flags = flags_in(call(path + Arguments{all}).out);
            CHECK(flags.contains("--help") == (path.size() > 1 || paths.size() == 1));  // those of a part are its own
            const std::vector<std::string> words = completed(path + Arguments{"-"});
            for (const std::string& flag : flags) {
                INFO(flag);
                CHECK_THAT(page, contains("\\fB" + typed(flag) + "\\fR"));
                CHECK(has(words, flag));
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
        const Result r = succeeded(run_program(Arguments{path} + rest));
        INFO(path << " " << rest.back());
        CHECK(r.err.empty());
        return true;
    };
    CHECK(check_with("/bin/bash", {"-n", manual.path(kForBash)}));
    check_with("/usr/bin/zsh", {"-n", manual.path("zsh/site-functions/_inkling")});
    check_with("/usr/bin/fish", {"-n", manual.path("fish/vendor_completions.d/inkling.fish")});
    for (const auto& page : fs::directory_iterator(manual.path("man/man1"))) {
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

TEST_CASE("manual: commands, flags and names are completed", "[cli]") {
    using Words = std::vector<std::string>;
    CHECK(completed({"tr"}) == Words{"train"});
    CHECK(has(completed({}), "help"));
    CHECK(completed({"help", "gradc"}) == Words{"gradcheck"});
    CHECK(completed({"help", "-"}).empty());
    CHECK(completed({"tokenize", "e"}) == Words{"encode"});
    CHECK(completed({"train", "--reci"}) == Words{"--recipe"});
    CHECK(completed({"train", "--recipe", ""}) == inkling::train::recipe_names());
    CHECK(completed({"train", "--recipe=nanogpt-c"}) == Words{"nanogpt-cpu"});
    CHECK(completed({"train", "--recipe", "=", "nanogpt-c"}) == Words{"nanogpt-cpu"});
    CHECK(completed({"train", "--recipe", "="}) == inkling::train::recipe_names());
    CHECK(has(completed({"train", "--arch", ""}), "gpt-neox"));
    CHECK(completed({"tokenize", "train", "--pre_tokenizer", "ll"}) == Words{"llama3"});
    CHECK(has(completed({"generate", "--"}), "--max-tokens"));
    CHECK(!has(completed({"generate", "--"}), "--recipe"));
    CHECK(completed({"train", "--n-layer", ""}).empty());
    CHECK(completed({"train", "--data", "x"}) == Words{":file"});
    CHECK(completed({"train", "--json", "x"}) == Words{":file"});  // the flag takes no value, so this is a text
    CHECK(completed({"train", "data", ""}) == Words{":file"});     // the name of an argument is no flag
    CHECK(completed({"generate", "--model", ""}) == Words{":file"});
    CHECK(completed({"train", "--resume", "a"}) == Words{"auto", ":directory"});
    CHECK(completed({"train", "--tokenizer", ""}) == Words{"char", "bpe", ":file"});
    CHECK(completed({"train", "--muon-scale", "o"}) == Words{"original"});
    CHECK(completed({"serve", "--runs", ""}) == Words{":directory"});
}

TEST_CASE("manual: shells offer what the program does", "[cli]") {
    using Words = std::vector<std::string>;
    const Manual manual;
    CHECK(offered(manual, {"tr"}) == Words{"train"});
    CHECK(offered(manual, {"train", "--recipe", ""}) == inkling::train::recipe_names());
    CHECK(offered(manual, {"train", "--recipe", "="}) == inkling::train::recipe_names());
    CHECK(offered(manual, {"train", "--recipe", "=", "nanogpt-c"}) == Words{"nanogpt-cpu"});
    CHECK(offered(manual, {"train", "--data", manual.path("bash")}) == Words{manual.path("bash-completion")});
    CHECK(offered(manual, {"generate", "--adapter", manual.path("f")}) == Words{manual.path("fish")});
    CHECK(offered(manual, {"generate", "--adapter", manual.path(kForBash)}).empty());  // it is no folder
    if (access("/usr/bin/fish", X_OK) != 0) return;
    const auto in_fish = [&](const std::string& line) {
        return words_of(run_program(
            {"/usr/bin/fish", "--no-config", "-c",
             "source $argv[1]; function inkling; " + std::string(kProgram) + " $argv; end; complete -C $argv[2]",
             manual.path("fish/vendor_completions.d/inkling.fish"), "inkling " + line}));
    };
    CHECK(in_fish("tr") == Words{"train"});
    CHECK(in_fish("train --recipe=nanogpt-c") == Words{"--recipe=nanogpt-cpu"});
    CHECK(in_fish("generate --adapter " + manual.path("f")) == Words{manual.path("fish/")});
}

// Each flag that takes names or paths must have a completion, or be listed here.
TEST_CASE("manual: each flag that takes a text is completed, or takes any", "[cli]") {
    const std::set<std::string> any = {"--exclude", "--text-field", "--text-column", "--serve",       "--sample-prompt",
                                       "--prompt",  "--stop",       "--system",      "--host",        "--filter",
                                       "--head",    "--max-time",   "--allow-host",  "--allow-origin"};
    std::size_t count = 0;
    for (const std::string& command : commands_in(call({"help"}).out)) {
        const std::string all = command == "train" ? "--help-all" : "--help";
        std::istringstream lines(call({command, all}).out);
        for (std::string line; std::getline(lines, line);) {
            std::smatch found;
            if (!std::regex_search(line, found, std::regex("^  .*(--[a-z-]+) TEXT"))) continue;
            INFO(command << ' ' << line);
            if (any.contains(found[1])) continue;
            CHECK_FALSE(completed({command, found[1], ""}).empty());
            ++count;
        }
    }
    CHECK(count > 20);
}
