// --out, the file that a command writes. It replaces an existing file of the same format, so that a command can be run
// again; replacing any other file needs --overwrite.
//   add_output_flags(app, args->out, "file to write")->required();
//   args.out.check("GGUF", "a GGUF file");                                 // before the work begins
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::cli {

// Whether a file begins with these bytes. True for a file that is missing, empty or not a regular file.
bool begins_with(const std::string& path, std::string_view begin);

struct OutputFile {
    std::string path;
    bool overwrite = false;

    // Throws Usage for an existing file that does not begin with `begin`, or, if that is empty, for any.
    void check(std::string_view begin, const char* kind) const;
    void check_format(const std::string& format) const;  // the same for html, svg and json

    // Throws Usage, with --overwrite too, if the file is one of those that the command reads, also through a link.
    void check_inputs(const std::vector<std::filesystem::path>& inputs) const;
};

CLI::Option* add_output_flags(CLI::App& app, OutputFile& out, const std::string& names, const std::string& help);

}  // namespace inkling::cli
