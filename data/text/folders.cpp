#include "data/text/folders.h"

#include <array>
#include <fstream>

#include "engine/base/check.h"
#include "formats/files/compressed.h"
#include "formats/files/directory.h"

namespace inkling::data {

namespace fs = std::filesystem;

bool looks_binary(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::array<char, 4096> head;
    in.read(head.data(), head.size());
    const std::string_view bytes(head.data(), static_cast<std::size_t>(in.gcount()));
    return formats::compression_of(bytes) == formats::Compression::none && bytes.find('\0') != std::string_view::npos;
}

bool is_tool_folder(const std::string& name) {
    return name.starts_with('.') || name == "node_modules" || name == "__pycache__";
}

bool is_run(const fs::path& folder) {
    std::error_code none;
    return fs::exists(folder / "config.toml", none) && fs::exists(folder / "metrics.jsonl", none);
}

bool is_own_folder(const fs::path& path) {
    std::error_code gone;
    return fs::is_directory(fs::symlink_status(path, gone));
}

void walk(const fs::path& folder, const std::function<bool(const fs::path& path, const std::string& name)>& enters) {
    for (const std::string& name : formats::names_in(folder)) {
        const fs::path path = folder / name;
        if (enters(path, name)) walk(path, enters);
    }
}

std::size_t count_files(const fs::path& folder) {
    std::size_t n = 0;
    try {
        walk(folder, [&](const fs::path& path, const std::string&) {
            const bool directory = is_own_folder(path);
            n += !directory;
            return directory && n < 1'000'000;
        });
    } catch (const Error&) {  // one that cannot be read
    }
    return n;
}

}  // namespace inkling::data
