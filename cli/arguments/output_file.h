// The file that a command writes, --out. One that stands there is replaced where it is of the same kind, as a command
// that is run again does; of another kind it is somebody's, and stays unless --overwrite is given.
//   add_output_flags(app, args->out, "file to write")->required();
//   args.out.check("GGUF", "a GGUF file");                                 // before the work begins
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace inkling::cli {

// Whether a file begins so. A missing or an empty one does, and whatever is no regular file.
bool begins_with(const std::string& path, std::string_view begin);

struct OutputFile {
    std::string path;
    bool overwrite = false;

    // Throws Usage for a file that does not begin as `kind` does. begin "": nothing is replaced.
    void check(std::string_view begin, const char* kind) const;
    void check_format(const std::string& format) const;  // the same of html, png, svg and json; others have no mark
};

CLI::Option* add_output_flags(CLI::App& app, OutputFile& out, const std::string& names, const std::string& help);

}  // namespace inkling::cli
