#include "train/run/lines_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/check.h"
#include "formats/files/file.h"
#include "formats/files/system_calls.h"
#include "formats/json.h"

namespace inkling::train {

LinesFile::LinesFile(const std::filesystem::path& path, std::size_t last_step) : path_(path) {
    std::error_code none;
    if (std::filesystem::symlink_status(path, none).type() != std::filesystem::file_type::not_found) {
        std::istringstream old(formats::is_there(path) ? formats::read_file(path) : "");
        std::string kept;
        for (std::string line; std::getline(old, line);) {
            const auto json = formats::json_or_null(line);
            const auto step = json.find("step");
            if (step != json.end() && step->is_number_unsigned() && step->get<std::uint64_t>() <= last_step)
                kept += line + "\n";
        }
        formats::write_file_atomic(path, kept, formats::Links::replaced);
    }
    const int file = formats::retry(
        [&] { return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666); });
    file_ = std::shared_ptr<std::FILE>(file < 0 ? nullptr : ::fdopen(file, "a"),
                                       [](std::FILE* f) { return f ? std::fclose(f) : 0; });
    check(file_ != nullptr, "{}: cannot be written: {}", path.string(), std::strerror(errno));
}

void LinesFile::write(const nlohmann::ordered_json& line) {
    const std::string text = formats::json_text(line) + "\n";
    const bool written = std::fputs(text.c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0;
    check(written, "{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

}  // namespace inkling::train
