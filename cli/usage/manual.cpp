#include "cli/usage/manual.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "cli/common.h"
#include "cli/usage/completion.h"
#include "cli/usage/help.h"
#include "cli/usage/wrong_usage.h"
#include "formats/files/file.h"

namespace inkling::cli {
namespace {

// Escapes text for troff. Dashes of flags and numbers become minus signs, as typed; those inside words stay hyphens.
std::string escape(const std::string& text) {
    std::string result;
    bool in_word = false, typed = false;
    for (const char c : text) {
        const bool dash = c == '-';
        if (dash && !in_word) typed = true;
        in_word = std::isalnum(static_cast<unsigned char>(c)) || dash || c == '_' || c == '.';
        if (!in_word) typed = false;
        if (dash) {
            result += typed ? "\\-" : "-";
        } else if (c == '\\') {
            result += "\\e";
        } else if (c == '\'') {
            result += "\\(aq";
        } else if (c == '`') {
            result += "\\(ga";
        } else if (c == '^') {
            result += "\\(ha";
        } else if (c == '~') {
            result += "\\(ti";
        } else {
            result += c;
        }
    }
    return result;
}

// Wraps text in lines below 80 characters; none begins with a dot, which would be a request.
std::string paragraph(const std::string& text) {
    std::string result, line;
    std::istringstream words(escape(text));
    for (std::string word; words >> word;) {
        if (!line.empty() && line.size() + word.size() > 76) result += line + "\n", line.clear();
        if (line.empty() && word.starts_with('.')) word.insert(0, "\\&");
        line += (line.empty() ? "" : " ") + word;
    }
    return result + line;
}

// Escapes every dash as a minus sign, as typed.
std::string typed(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '-' ? "\\-" : std::string(1, c);
    return result;
}

// "-p, --prompt TEXT" with flags in bold and the value in italics.
std::string spellings(const CLI::Option& option) {
    std::string result;
    std::istringstream words(spellings_of(option));
    for (std::string word; words >> word;) {
        const bool more = word.ends_with(',');
        if (more) word.pop_back();
        result += fmt::format("{}\\f{}{}\\fR{}", result.empty() ? "" : " ", word.starts_with('-') ? 'B' : 'I',
                              typed(word), more ? "," : "");
    }
    return result;
}

void add_flags(const CLI::App& command, std::string& page) {
    for (const Help::Section& section : dynamic_cast<const Help&>(*command.get_formatter()).sections(command)) {
        if (!section.name.empty()) page += fmt::format(".SS {}\n", escape(section.name));
        for (const auto* const options : {&section.common, &section.more})
            for (const CLI::Option* const option : *options)
                page += fmt::format(".TP\n{}\n{}\n", spellings(*option), paragraph(text_of(*option)));
    }
}

std::string page_name(const CLI::App& command) {  // "inkling-train"
    const CLI::App* const parent = command.get_parent();
    return parent ? page_name(*parent) + "-" + command.get_name() : command.get_name();
}

// A long text up to its first comma.
std::string first_part(const std::string& text) { return text.size() < 72 ? text : text.substr(0, text.find(',')); }

// "Train a model" -> "train a model", for a page's NAME.
std::string lowered(std::string text) {
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
        text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

std::string synopsis(const CLI::App& command) {
    return fmt::format(".B {}\n{}\n", typed(full_name(command)), escape(usage_of(command).substr(1)));
}

constexpr const char* kExitStatus = R"(.SH EXIT STATUS
.TP
0
done
.TP
1
the run failed
.TP
2
wrong usage
.TP
3
bad input: a file, a text, a model folder or a tokenizer
.TP
4
training diverged
.TP
5
a check failed
.TP
130, 143
a signal ended it: Ctrl\-C, or SIGTERM
)";

}  // namespace

std::string man_page(const CLI::App& command) {
    std::string title = page_name(command);
    for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string page = fmt::format(".TH {} 1 {} \"Inkling {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                                   title, INKLING_RELEASED, INKLING_VERSION, typed(page_name(command)),
                                   escape(lowered(first_part(command.get_description()))));
    const std::vector<const CLI::App*> parts = commands_of(command);
    if (parts.empty()) page += synopsis(command);
    for (const CLI::App* const part : parts) {
        if (part != parts.front()) page += ".br\n";
        page += synopsis(*part);
    }
    const bool whole = !command.get_parent();
    page += fmt::format(".SH DESCRIPTION\n{}\n", paragraph(command.get_description() + (whole ? "" : ".")));
    if (whole) {
        page += ".SH COMMANDS\n";
        for (const CLI::App* const part : parts)
            page += fmt::format(".TP\n.BR {} (1)\n{}\n", typed(page_name(*part)), paragraph(part->get_description()));
    } else {
        for (const CLI::App* const part : parts) {
            page += fmt::format(".SH \"{}\"\n{}.\n", typed(full_name(*part)), paragraph(part->get_description()));
            add_flags(*part, page);
        }
    }
    page += ".SH OPTIONS\n";
    add_flags(command, page);
    page += ".PP\nA flag may be given as \\fB\\-\\-flag value\\fR or \\fB\\-\\-flag=value\\fR.\n";
    page += kExitStatus;
    if (whole) {
        page += ".SH EXAMPLES\n";
        std::istringstream lines(kExamples);
        std::vector<std::string> examples;
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("    ")) examples.push_back(typed(line.substr(4)));
        page += fmt::format(".nf\n{}\n.fi\n", fmt::join(examples, "\n"));
    }
    page += ".SH SEE ALSO\n";
    std::vector<std::string> others;
    const CLI::App& root = whole ? command : *command.get_parent();
    if (!whole) others.push_back(page_name(root));
    for (const CLI::App* const other : commands_of(root))
        if (other != &command) others.push_back(page_name(*other));
    for (const std::string& other : others)
        page += fmt::format(".BR {} (1){}\n", typed(other), &other == &others.back() ? "" : " ,");
    return page;
}

void write_manual(CLI::App& app, const std::filesystem::path& folder) {
    const auto write = [&](const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder / name;
        std::filesystem::create_directories(path.parent_path());
        formats::write_file_atomic(path, text);
    };
    write("man/man1/inkling.1", man_page(app));
    for (const CLI::App* const command : commands_of(app))
        write(fmt::format("man/man1/{}.1", page_name(*command)), man_page(*command));
    write("bash-completion/completions/inkling", kBashCompletion);
    write("zsh/site-functions/_inkling", kZshCompletion);
    write("fish/vendor_completions.d/inkling.fish", kFishCompletion);
}

}  // namespace inkling::cli
