// Completion for shells: what comes behind each command, as words of the shell's language.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/flag_values.h"
#include "cli/help.h"
#include "cli/manual.h"

namespace inkling::cli {
namespace {

struct Flag {
    std::vector<std::string> short_names, long_names;  // without dashes
    std::string text;
    bool takes_value, repeats;
    FlagValues values;

    std::vector<std::string> spellings() const {
        std::vector<std::string> all;
        for (const std::string& name : short_names) all.push_back("-" + name);
        for (const std::string& name : long_names) all.push_back("--" + name);
        return all;
    }
};

struct Command {
    std::string path;  // "/tokenize/train"
    std::string name, text;
    std::vector<Flag> flags;
    FlagValues arguments;  // that are no flags
    std::vector<Command> parts;

    std::vector<std::string> part_names() const {
        std::vector<std::string> names;
        for (const Command& part : parts) names.push_back(part.name);
        return names;
    }
    // Of this command and of those below it.
    template <class F>
    void visit(const F& f) const {
        f(*this);
        for (const Command& part : parts) part.visit(f);
    }
};

Command command_of(CLI::App& app, const std::string& path) {
    Command command{path, app.get_name(), app.get_description(), {}, {}, {}};
    for (CLI::Option* const option : app.get_options([](CLI::Option*) { return true; })) {
        const FlagValues values = values_of(*option);
        if (option->get_positional()) command.arguments = values;
        std::string text = option->get_description();
        text.erase(std::min(text.find(';'), text.size()));  // there is little room
        const bool repeats = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
        if (!option->nonpositional()) continue;
        command.flags.push_back(
            {option->get_snames(), option->get_lnames(), text, takes_value(*option), repeats, values});
    }
    for (CLI::App* const part : app.get_subcommands([](CLI::App*) { return true; }))
        command.parts.push_back(command_of(*part, path + "/" + part->get_name()));
    return command;
}

// `help` is no command to CLI11.
Command commands_of_program(CLI::App& app) {
    Command program = command_of(app, "");
    Command help{"/help", "help", "Show the flags of a command", {}, {}, {}};
    help.arguments.names = program.part_names();
    program.parts.push_back(help);
    return program;
}

std::string replaced(std::string text, std::initializer_list<std::pair<char, const char*>> what) {
    std::string result;
    for (const char c : text) {
        const auto* const found = std::find_if(what.begin(), what.end(), [c](const auto& w) { return w.first == c; });
        result += found == what.end() ? std::string(1, c) : found->second;
    }
    return result;
}

// Of all commands: which words lead to them.
std::string all_paths(const Command& program, const char* between) {
    std::vector<std::string> paths;
    program.visit([&](const Command& command) {
        if (!command.path.empty()) paths.push_back(command.path);
    });
    return fmt::format("{}", fmt::join(paths, between));
}

// What bash is to offer in the place of a value.
std::string bash_values(const FlagValues& values) {
    std::string text = values.names.empty() ? "" : fmt::format("words='{}' ", fmt::join(values.names, " "));
    if (values.files) text += "kind=file ";
    if (values.folders) text += "kind=directory ";
    return text.empty() ? ":" : text.substr(0, text.size() - 1);
}

}  // namespace

std::string bash_completion(CLI::App& app) {
    const Command program = commands_of_program(app);
    std::string values, flags;
    program.visit([&](const Command& command) {
        std::vector<std::string> names;
        for (const Flag& flag : command.flags) {
            const std::vector<std::string> spellings = flag.spellings();
            names.insert(names.end(), spellings.begin(), spellings.end());
            if (!flag.takes_value) continue;
            std::vector<std::string> cases;
            for (const std::string& spelling : spellings) cases.push_back(command.path + ":" + spelling);
            values += fmt::format("    {}) {} ;;\n", fmt::join(cases, " | "), bash_values(flag.values));
        }
        FlagValues arguments = command.arguments;
        for (const Command& part : command.parts) arguments.names.push_back(part.name);
        flags += fmt::format("        '{}')\n            flags='{}'\n            {}\n            ;;\n", command.path,
                             fmt::join(names, " "), bash_values(arguments));
    });
    return fmt::format(R"(# Completion of inkling for bash. Made from the program's own flags.
_inkling() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command='' words='' kind='' flags='' i
    COMPREPLY=()
    if [[ $word == '=' ]]; then  # --flag=value is three words
        word=''
    elif [[ $before == '=' ]]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case $command/${{COMP_WORDS[i]}} in
        {}) command+=/${{COMP_WORDS[i]}} ;;
        esac
    done
    case $command:${{before//_/-}} in
{}    *)
        case $command in
{}        esac
        [[ $word != -* ]] || words=$flags kind=''
        ;;
    esac
    [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    if [[ -n $kind ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -A "$kind" -- "$word")
    fi
}}
complete -F _inkling inkling
)",
                       all_paths(program, " | "), values, flags);
}

std::string zsh_completion(CLI::App& app) {
    const Command program = commands_of_program(app);
    const auto escaped = [](const std::string& text) {
        return replaced(text, {{'\'', "'\\''"}, {'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\\', "\\\\"}});
    };
    const auto action = [](const FlagValues& values) -> std::string {
        const std::string names = fmt::format("{}", fmt::join(values.names, " "));
        if (values.files) return names.empty() ? "_files" : "_inkling_or_files " + names;
        if (values.folders) return names.empty() ? "_files -/" : "_inkling_or_folders " + names;
        return names.empty() ? " " : "(" + names + ")";
    };
    const auto function = [](const Command& command) {
        return "_inkling" + replaced(command.path, {{'/', "_"}, {'-', "_"}});
    };
    std::string functions;
    program.visit([&](const Command& command) {
        std::string lines, choices;
        for (const Flag& flag : command.flags)
            for (const std::string& spelling : flag.spellings())
                lines += fmt::format("        '{}{}[{}]{}' \\\n", flag.repeats ? "*" : "", spelling, escaped(flag.text),
                                     flag.takes_value ? ":value:" + action(flag.values) : "");
        if (command.parts.empty()) {
            const FlagValues& taken = command.arguments;
            const bool any = taken.files || taken.folders || !taken.names.empty();
            functions += fmt::format("{}() {{\n    _arguments -S \\\n{}        '*:argument:{}'\n}}\n\n",
                                     function(command), lines, any ? action(taken) : " ");
            return;
        }
        std::string names;
        for (const Command& part : command.parts) {
            names += fmt::format("        '{}:{}'\n", part.name, escaped(part.text));
            choices += fmt::format("        {}) {} ;;\n", part.name, function(part));
        }
        functions += fmt::format(R"({}() {{
    local state line curcontext=$curcontext
    local -a commands=(
{}    )
    _arguments -C -S \
{}        '1:command:->command' \
        '*::argument:->argument'
    case $state in
    command) _describe command commands ;;
    argument)
        case $words[1] in
{}        esac
        ;;
    esac
}}

)",
                                 function(command), names, lines, choices);
    });
    return fmt::format(R"(#compdef inkling
# Completion of inkling for zsh. Made from the program's own flags.

# Names that a flag knows, or paths.
_inkling_or_files() {{
    compadd "$@"
    _files
}}
_inkling_or_folders() {{
    compadd "$@"
    _files -/
}}

{}_inkling "$@"
)",
                       functions);
}

std::string fish_completion(CLI::App& app) {
    const Command program = commands_of_program(app);
    const auto quoted = [](const std::string& text) {
        return "'" + replaced(text, {{'\'', "\\'"}, {'\\', "\\\\"}}) + "'";
    };
    const auto offered = [&](const FlagValues& values) {
        std::string words = fmt::format("{}", fmt::join(values.names, " "));
        if (values.folders) words += " (__fish_complete_directories)";
        return (values.files ? std::string(" -F") : " -f") + (words.empty() ? "" : " -a " + quoted(words));
    };
    std::string lines;
    program.visit([&](const Command& command) {
        const std::string begin = fmt::format("complete -c inkling -n \"__inkling_at '{}'\"", command.path);
        for (const Command& part : command.parts)
            lines += fmt::format("{} -f -a {} -d {}\n", begin, part.name, quoted(part.text));
        const FlagValues& taken = command.arguments;
        if (taken.files || taken.folders || !taken.names.empty()) lines += begin + offered(taken) + "\n";
        for (const Flag& flag : command.flags) {
            std::string names;
            for (const std::string& name : flag.short_names) names += " -s " + name;
            for (const std::string& name : flag.long_names) names += " -l " + name;
            lines += fmt::format("{}{} -d {}{}\n", begin, names, quoted(flag.text),
                                 flag.takes_value ? " -r" + offered(flag.values) : "");
        }
    });
    return fmt::format(R"(# Completion of inkling for fish. Made from the program's own flags.
function __inkling_at
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command/$word"
            case {}
                set command "$command/$word"
        end
    end
    test "$command" = "$argv[1]"
end

complete -c inkling -f
{})",
                       all_paths(program, " "), lines);
}

}  // namespace inkling::cli
