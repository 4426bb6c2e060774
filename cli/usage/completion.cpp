#include "cli/usage/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/usage/flag_values.h"
#include "cli/usage/help.h"

namespace inkling::cli {
namespace {

class Completion {
  public:
    explicit Completion(const std::string& word) : word_(word) {}

    void offer(const std::string& name, std::string text = "") {
        text.erase(std::min(text.find(';'), text.size()));  // only the first part: space is short
        if (name.starts_with(word_)) lines_ += name + (text.empty() ? "" : "\t" + text) + "\n";
    }
    void offer(CLI::Option& option) {
        for (const std::string& value : values_of(option))
            value == kFiles || value == kFolders ? static_cast<void>(lines_ += value + "\n") : offer(value);
    }
    void offer_commands(const CLI::App& app) {
        for (const CLI::App* const command : commands_of(app)) offer(command->get_name(), command->get_description());
    }
    void offer_flags(const CLI::Option& option) {
        for (const std::string& name : option.get_snames()) offer("-" + name, option.get_description());
        for (const std::string& name : option.get_lnames()) offer("--" + name, option.get_description());
    }
    const std::string& lines() const { return lines_; }

  private:
    std::string word_, lines_;
};

}  // namespace

std::string complete(CLI::App& app, std::vector<std::string> words) {
    if (words.empty()) words.emplace_back();
    std::string word = words.back();
    words.pop_back();
    if (word == "=") {  // bash splits --flag=value into three words
        word.clear();
    } else if (!words.empty() && words.back() == "=") {
        words.pop_back();
    } else if (const std::size_t at = word.find('='); word.starts_with("--") && at != std::string::npos) {
        words.push_back(word.substr(0, at));
        word.erase(0, at + 1);
    }
    Completion completion(word);

    const bool help = !words.empty() && words.front() == "help";  // CLI11 does not know this command
    CLI::App* command = &app;
    for (const std::string& given : words)
        for (CLI::App* const part : command->get_subcommands([](CLI::App*) { return true; }))
            if (part->get_name() == given) command = part;
    const bool behind_flag = !words.empty() && words.back().starts_with('-') && !help;
    CLI::Option* const flag = behind_flag ? command->get_option_no_throw(words.back()) : nullptr;
    if (flag && takes_value(*flag)) {
        completion.offer(*flag);
    } else if (word.starts_with('-') && !help) {
        for (const CLI::Option* const option : command->get_options()) completion.offer_flags(*option);
    } else {
        completion.offer_commands(*command);
        if (command == &app && !help) completion.offer("help", "Show the flags of a command");
        for (CLI::Option* const option : command->get_options([&](CLI::Option*) { return !help; }))
            if (option->get_positional()) completion.offer(*option);
    }
    return completion.lines();
}

const char* const kBashCompletion = R"inkling(# Completion of inkling for bash: the program itself offers the words.
_inkling() {
    local word=${COMP_WORDS[COMP_CWORD]} line
    COMPREPLY=()
    [[ $word != '=' ]] || word=''  # --flag=value is three words
    while IFS= read -r line; do
        case $line in
        :*)
            compopt -o filenames 2>/dev/null
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -A "${line#:}" -- "$word")
            ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _inkling inkling
)inkling";

const char* const kZshCompletion = R"inkling(#compdef inkling
# Completion of inkling for zsh: the program itself offers the words.
local line
local -a names
[[ $words[CURRENT] != --*=* ]] || compset -P '*='
for line in ${(f)"$(${~words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    case $line in
    :file) _files ;;
    :directory) _files -/ ;;
    *) names+=("${${line//:/\\:}/$'\t'/:}") ;;
    esac
done
_describe word names
)inkling";

const char* const kFishCompletion = R"inkling(# Completion of inkling for fish: the program itself offers the words.
function __inkling_complete
    set -l token (commandline -ct)
    set -l words (commandline -opc) "$token"
    set -l flag (string match -r -- '^--[^=]*=' $token)  # of --flag=value
    set -l value (string replace -- "$flag" '' $token)
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path "$value"
            case :directory
                __fish_complete_directories "$value"
            case '*'
                echo $line
        end
    end | string replace -r '^' -- "$flag"
end
complete -c inkling -f -a '(__inkling_complete)'
)inkling";

}  // namespace inkling::cli
