#include "train/run/metrics.h"

#include <fcntl.h>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/check.h"
#include "formats/files/file.h"
#include "formats/files/file_calls.h"
#include "formats/json.h"
#include "train/loop.h"

namespace inkling::train {

std::vector<std::string> lines_of(const std::filesystem::path& path) {
    std::istringstream text(formats::is_there(path) ? formats::read_file(path) : "");
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

LinesFile::LinesFile(const std::filesystem::path& path, std::size_t last_step) : path_(path) {
    std::error_code none;
    if (std::filesystem::symlink_status(path, none).type() != std::filesystem::file_type::not_found) {
        std::string kept;
        for (const std::string& line : lines_of(path)) {
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

void MetricsFile::step_done(TrainingLoop& loop) {
    write_held();
    if (!loop.log_due() || !std::isfinite(loop.metrics().grad_norm)) return;
    held_ = loop.metrics();
    if (!loop.checkpoint_due()) write_held();
}

void MetricsFile::evaluated(TrainingLoop& loop) {
    if (loop.metrics().step > 0) return;
    held_ = loop.metrics();
    if (!loop.checkpoint_due()) write_held();
}

void MetricsFile::saved(const std::string& sha256) {
    if (held_) held_->sha256 = sha256;
    write_held();
}

void MetricsFile::write_held() {
    if (held_) write(*held_);
    held_.reset();
}

void MetricsFile::stopped(TrainingLoop& loop) {
    write_held();
    const Metrics& last = loop.metrics();
    if (last.step != 0 && last.step != written_ && std::isfinite(last.grad_norm)) write(last);
}

nlohmann::ordered_json json_of(const Metrics& metrics) {
    const bool trained = metrics.step > 0;
    nlohmann::ordered_json line = {{"step", metrics.step}};
    if (trained) line["loss"] = metrics.loss;
    if (metrics.val_loss) {
        line["val_loss"] = *metrics.val_loss;
        line["val_tokens"] = metrics.val_tokens;
    }
    if (metrics.bits_per_byte) line["bits_per_byte"] = *metrics.bits_per_byte;
    if (trained) line.update({{"lr", metrics.lr}, {"grad_norm", metrics.grad_norm}, {"tok_s", metrics.tok_s}});
    line["train_s"] = metrics.train_s;
    line["elapsed_s"] = metrics.elapsed_s;
    if (!metrics.sha256.empty()) line["sha256"] = metrics.sha256;
    return line;
}

void MetricsFile::write(const Metrics& metrics) {
    written_ = metrics.step;
    file_.write(json_of(metrics));
}

}  // namespace inkling::train
