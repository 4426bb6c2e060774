// Manual pages and completion for shells: they have every command and flag of --help.
#include <regex>
#include <set>

#include "tests/cli/program.h"
#include "train/recipes/recipes.h"

using namespace inkling::testing;

namespace {

struct Manual {
    ScratchFolder folder;
    Manual() { succeeded(call("manual", folder.path("share"))); }
    std::string path(const std::string& name) const { return folder.path("share/" + name); }
    std::string read(const std::string& name) const { return read_file(path(name)); }
};

constexpr const char* kForBash = "bash-completion/completions/inkling";

std::vector<std::string> commands_in(const std::string& help) {
    std::vector<std::string> names;
    const std::size_t begin = help.find("\nCommands:\n");
    if (begin == std::string::npos) return names;
    for (const std::string& line : lines_of(help.substr(begin + 11))) {
        if (line.empty()) break;
        if (line.size() > 2 && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
}

// The flags that begin a row of a help text: "--n-layer", "-p".
std::set<std::string> flags_in(const std::string& help) {
    std::set<std::string> flags;
    for (const std::string& line : lines_of(help)) {
        if (!line.starts_with("  -")) continue;
        std::istringstream row(line);
        for (std::string word = ","; word.ends_with(',') && row >> word && word.starts_with('-');)
            flags.insert(word.substr(0, word.find(',')));
    }
    return flags;
}

std::string with_hyphens(const std::string& flag) { return std::regex_replace(flag, std::regex("-"), "\\-"); }

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<std::string> words_in(const std::string& out) {  // without what stands behind them
    std::vector<std::string> found;
    for (const std::string& line : lines_of(out))
        if (!line.empty()) found.push_back(line.substr(0, line.find('\t')));
    return found;
}

// The program's completions of the last of these words.
std::vector<std::string> completed(const Arguments& typed) {
    return words_in(succeeded(call("__complete", typed)).out);
}

// The completions of bash.
std::vector<std::string> offered(const Manual& manual, const Arguments& typed) {
    const std::string script =
        "source \"$1\"; shift; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _inkling; printf '%s\\n' "
        "\"${COMPREPLY[@]}\"";
    return words_in(printed_by("/bin/bash", words("-c", script, "bash", manual.path(kForBash), kProgram, typed)));
}

}  // namespace

TEST_CASE("manual: each command has a page, and each flag is in it and is completed", "[cli]") {
    const Manual manual;
    const std::vector<std::string> commands = commands_in(call("help").out);
    REQUIRE(commands.size() >= 13);
    const std::string overview = manual.read("man/man1/inkling.1");
    std::size_t count = 0;
    for (const std::string& command : commands) {
        INFO(command);
        check_has(overview, ".BR inkling\\-" + command + " (1)");
        const std::string page = manual.read("man/man1/inkling-" + command + ".1");
        check_has(page, ".B inkling " + command);
        std::vector<Arguments> paths{{command}};
        for (const std::string& part : commands_in(call("help", command).out)) paths.push_back({command, part});
        for (const Arguments& path : paths) {
            const std::string all = command == "train" ? "--help-all" : "--help";
            const std::set<std::string> flags = flags_in(call(path + words(all)).out);
            CHECK(flags.contains("--help") == (path.size() > 1 || paths.size() == 1));  // those of a part are its own
            const std::vector<std::string> offers = completed(path + "-");
            for (const std::string& flag : flags) {
                INFO(flag);
                check_has(page, "\\fB" + with_hyphens(flag) + "\\fR");
                CHECK(has(offers, flag));
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
        INFO(path << " " << rest.back());
        CHECK(succeeded(Process(rest, "", "/dev/null", nullptr, path).wait()).err.empty());
        return true;
    };
    CHECK(check_with("/bin/bash", words("-n", manual.path(kForBash))));
    check_with("/usr/bin/zsh", words("-n", manual.path("zsh/site-functions/_inkling")));
    check_with("/usr/bin/fish", words("-n", manual.path("fish/vendor_completions.d/inkling.fish")));
    for (const std::string& name : names_in(manual.path("man/man1"))) {
        const std::string page = manual.path("man/man1/" + name);
        check_with("/usr/bin/mandoc", words("-Tlint -Wwarning", page));
        check_with("/usr/bin/groff", words("-man -ww -z", page));
        for (const std::string& line : lines_of(read_file(page))) {
            INFO(line);
            CHECK(line.size() < 120);
            CHECK(line.find('\'') == std::string::npos);
            if (line.starts_with('.'))
                CHECK(std::regex_search(line, std::regex("^\\.(TH|SH|SS|TP|PP|B|BR|br|nf|fi)\\b")));
        }
    }
}

TEST_CASE("manual: commands, flags and names are completed", "[cli]") {
    const Arguments recipes = inkling::train::recipe_names();
    for (const auto& [typed, offers] : std::vector<std::pair<Arguments, Arguments>>{
             {words("tr"), {"train"}},
             {words("help gradc"), {"gradcheck"}},
             {words("help -"), {}},
             {words("tokenize e"), {"encode"}},
             {words("train --reci"), {"--recipe"}},
             {words("train --recipe ''"), recipes},
             {words("train --recipe=nanogpt-c"), {"nanogpt-cpu"}},
             {words("train --recipe = nanogpt-c"), {"nanogpt-cpu"}},
             {words("train --recipe ="), recipes},
             {words("tokenize train --pre_tokenizer ll"), {"llama3"}},
             {words("train --n-layer ''"), {}},
             {words("train --data x"), {":file"}},
             {words("train --json x"), {":file"}},  // the flag takes no value, so this is a text
             {words("train data ''"), {":file"}},   // the name of an argument is no flag
             {words("generate --model ''"), {":file"}},
             {words("train --resume a"), {"auto", ":directory"}},
             {words("train --tokenizer ''"), {"char", "bpe", ":file"}},
             {words("train --muon-scale o"), {"original"}},
             {words("serve --runs ''"), {":directory"}}}) {
        INFO(typed.back());
        CHECK(completed(typed) == offers);
    }
    CHECK(has(completed({}), "help"));
    CHECK(has(completed(words("train --arch ''")), "gpt-neox"));
    CHECK(has(completed(words("generate --")), "--max-tokens"));
    CHECK_FALSE(has(completed(words("generate --")), "--recipe"));
}

TEST_CASE("manual: shells offer what the program does", "[cli]") {
    using Words = std::vector<std::string>;
    const Manual manual;
    const auto in_bash = [&](const auto&... typed) { return offered(manual, words(typed...)); };
    CHECK(in_bash("tr") == Words{"train"});
    CHECK(in_bash("train --recipe ''") == inkling::train::recipe_names());
    CHECK(in_bash("train --recipe =") == inkling::train::recipe_names());
    CHECK(in_bash("train --recipe = nanogpt-c") == Words{"nanogpt-cpu"});
    CHECK(in_bash("train --data", manual.path("bash")) == Words{manual.path("bash-completion")});
    CHECK(in_bash("generate --adapter", manual.path("f")) == Words{manual.path("fish")});
    CHECK(in_bash("generate --adapter", manual.path(kForBash)).empty());  // it is no folder
    if (access("/usr/bin/fish", X_OK) != 0) return;
    const std::string complete =
        "source $argv[1]; function inkling; " + std::string(kProgram) + " $argv; end; complete -C $argv[2]";
    const auto in_fish = [&](const std::string& line) {
        return words_in(printed_by(
            "/usr/bin/fish", words("--no-config -c", complete, manual.path("fish/vendor_completions.d/inkling.fish"),
                                   "inkling " + line)));
    };
    CHECK(in_fish("tr") == Words{"train"});
    CHECK(in_fish("train --recipe=nanogpt-c") == Words{"--recipe=nanogpt-cpu"});
    CHECK(in_fish("generate --adapter " + manual.path("f")) == Words{manual.path("fish/")});
}

// Each flag that takes names or paths must have a completion, or be listed here.
TEST_CASE("manual: each flag that takes a text is completed, or takes any", "[cli]") {
    const Arguments any = words(
        "--exclude --text-field --text-column --serve --sample-prompt --prompt --stop --system --host --filter --head "
        "--max-time --allow-host --allow-origin");
    std::size_t count = 0;
    for (const std::string& command : commands_in(call("help").out)) {
        const std::string all = command == "train" ? "--help-all" : "--help";
        for (const std::string& line : lines_of(call(words(command, all)).out)) {
            std::smatch found;
            if (!std::regex_search(line, found, std::regex("^  .*(--[a-z-]+) TEXT"))) continue;
            INFO(command << ' ' << line);
            if (has(any, found[1])) continue;
            CHECK_FALSE(completed({command, found[1], ""}).empty());
            ++count;
        }
    }
    CHECK(count > 20);
}
