// Completion for shells: it has every command and flag of --help.
#include "tests/cli/program.h"
#include "train/recipes/recipes.h"

const std::string kScripts = tests_path("../cli/usage/completion/"), kForBash = kScripts + "inkling.bash";

static std::vector<std::string> commands_in(const std::string& help) {
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
static std::set<std::string> flags_in(const std::string& help) {
    std::set<std::string> flags;
    for (const std::string& line : lines_of(help)) {
        if (!line.starts_with("  -")) continue;
        std::istringstream row(line);
        for (std::string word = ","; word.ends_with(',') && row >> word && word.starts_with('-');)
            flags.insert(word.substr(0, word.find(',')));
    }
    return flags;
}

static bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

static std::vector<std::string> words_in(const std::string& out) {  // without what stands behind them
    std::vector<std::string> found;
    for (const std::string& line : lines_of(out))
        if (!line.empty()) found.push_back(line.substr(0, line.find('\t')));
    return found;
}

// The program's completions of the last of these words.
static std::vector<std::string> completed(const Arguments& typed) {
    return words_in(succeeded(call("__complete", typed)).out);
}

// The completions of bash.
static std::vector<std::string> offered(const Arguments& typed) {
    const std::string script =
        "source \"$1\"; shift; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _inkling; printf '%s\\n' "
        "\"${COMPREPLY[@]}\"";
    return words_in(printed_by("/bin/bash", words("-c", script, "bash", kForBash, kProgram, typed)));
}

TEST_CASE("completion: each flag of each command is completed, and its texts, unless it takes any", "[cli]") {
    const Arguments any = words(
        "--save-at --exclude --text-field --text-column --serve --sample-prompt --prompt --stop --system --host "
        "--filter --head --max-time --allow-host --allow-origin");
    const std::vector<std::string> commands = commands_in(call("help").out);
    REQUIRE(commands.size() >= 13);
    std::size_t flags = 0, texts = 0;
    for (const std::string& command : commands) {
        std::vector<Arguments> paths{{command}};
        for (const std::string& part : commands_in(call("help", command).out)) paths.push_back({command, part});
        for (const Arguments& path : paths) {
            INFO(command << ' ' << path.back());
            const std::string help = call(path + words(command == "train" ? "--help-all" : "--help")).out;
            const std::set<std::string> explained = flags_in(help);
            CHECK(explained.contains("--help") ==
                  (path.size() > 1 || paths.size() == 1));  // those of a part are its own
            const std::vector<std::string> offers = completed(path + "-");
            for (const std::string& flag : explained) {
                INFO(flag);
                CHECK(has(offers, flag));
                ++flags;
            }
            for (const std::string& line : lines_of(help)) {
                std::smatch found;
                if (!std::regex_search(line, found, std::regex("^  .*(--[a-z-]+) [A-Z]{3,}")) || has(any, found[1]))
                    continue;
                INFO(line);
                CHECK_FALSE(completed(path + found[1].str() + std::string()).empty());
                ++texts;
            }
        }
    }
    CHECK_ALL(flags > 200, texts > 20);
}

TEST_CASE("completion: commands, flags and names are completed", "[cli]") {
    const Arguments recipes = inkling::train::recipe_names();
    for (const char* typed : {"train --recipe ''", "train --recipe ="})
        WITH_INFO(typed, CHECK(completed(split(typed)) == recipes));
    for (const char* row :
         {"tr > train", "help gradc > gradcheck", "help - > ", "tokenize e > encode", "train --reci > --recipe",
          "train --recipe=nanogpt-c > nanogpt-cpu", "train --recipe = nanogpt-c > nanogpt-cpu",
          "tokenize train --pre_tokenizer ll > llama3", "train --n-layer '' > ", "train --data x > :file",
          "generate --model '' > :file", "train --json x > :file",  // the flag takes no value, so this is a text
          "train data '' > :file",                                  // the name of an argument is no flag
          "train --resume a > auto :directory", "train --tokenizer '' > char bpe ids :file",
          "train --muon-scale o > original", "serve --runs '' > :directory"})
        WITH_INFO(row, CHECK(completed(sides(row).first) == sides(row).second));
    CHECK_ALL(has(completed({}), "help"), has(completed(words("train --arch ''")), "gpt-neox"));
    CHECK_ALL(has(completed(words("generate --")), "--max-tokens"), !has(completed(words("generate --")), "--recipe"));
}

TEST_CASE("completion: shells offer what the program does", "[cli]") {
    using Words = std::vector<std::string>;
    const auto parsed_by = [](const char* shell, const std::string& script) {
        return access(shell, X_OK) != 0 ||
               Process(words("-n", script), "", "/dev/null", nullptr, shell).wait().code == 0;
    };
    CHECK_ALL(parsed_by("/bin/bash", kForBash), parsed_by("/usr/bin/zsh", kScripts + "_inkling"));
    CHECK(parsed_by("/usr/bin/fish", kScripts + "inkling.fish"));
    const ScratchFolder folder;
    fs::create_directory(folder.path("fish"));
    const std::string file = folder.write("text", "");
    const auto in_bash = [&](const auto&... typed) { return offered(words(typed...)); };
    CHECK_ALL(in_bash("tr") == Words{"train"}, in_bash("train --recipe ''") == inkling::train::recipe_names());
    CHECK(in_bash("train --recipe =") == inkling::train::recipe_names());
    CHECK(in_bash("train --recipe = nanogpt-c") == Words{"nanogpt-cpu"});
    CHECK(in_bash("train --data", folder.path("te")) == Words{file});
    CHECK(in_bash("generate --adapter", folder.path("f")) == Words{folder.path("fish")});
    CHECK(in_bash("generate --adapter", file).empty());  // it is no folder
    if (access("/usr/bin/fish", X_OK) != 0) return;
    const std::string complete =
        "source $argv[1]; function inkling; " + std::string(kProgram) + " $argv; end; complete -C $argv[2]";
    const auto in_fish = [&](const std::string& line) {
        return words_in(printed_by("/usr/bin/fish",
                                   words("--no-config -c", complete, kScripts + "inkling.fish", "inkling " + line)));
    };
    CHECK_ALL(in_fish("tr") == Words{"train"}, in_fish("train --recipe=nanogpt-c") == Words{"--recipe=nanogpt-cpu"});
    CHECK(in_fish("generate --adapter " + folder.path("f")) == Words{folder.path("fish/")});
}
