#include "cli/arguments/output_file.h"

#include <fstream>
#include <map>
#include <utility>

#include "cli/common.h"
#include "cli/usage/flag_values.h"

namespace inkling::cli {

bool begins_with(const std::string& path, std::string_view begin) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none) || std::filesystem::file_size(path, none) == 0) return true;
    std::string found(begin.size(), '\0');
    std::ifstream(path, std::ios::binary).read(found.data(), static_cast<std::streamsize>(found.size()));
    return !begin.empty() && found == begin;
}

void OutputFile::check(std::string_view begin, const char* kind) const {
    inkling::check<Usage>(
        overwrite || begins_with(path, begin),
        "--out {}: this file exists and is not {}: choose another name, or replace it with --overwrite", path, kind);
}

void OutputFile::check_format(const std::string& format) const {
    static const std::map<std::string, std::pair<std::string_view, const char*>> kMarks = {
        {"html", {"<!DOCTYPE html>", "a page"}},
        {"svg", {"<svg", "an SVG picture"}},
        {"json", {"{\"model\"", "what this command writes"}}};
    const auto found = kMarks.find(format);
    found == kMarks.end() ? check("", "what this command writes") : check(found->second.first, found->second.second);
}

void OutputFile::check_inputs(const std::vector<std::filesystem::path>& inputs) const {
    std::error_code none;
    for (const std::filesystem::path& input : inputs)
        inkling::check<Usage>(!std::filesystem::equivalent(path, input, none),
                              "--out {}: the command reads this file: choose another name", path);
}

CLI::Option* add_output_flags(CLI::App& app, OutputFile& out, const std::string& names, const std::string& help) {
    app.add_flag("--overwrite", out.overwrite, "replace any file at --out");
    return offer(*app.add_option(names, out.path, help), {kFiles});
}

}  // namespace inkling::cli
