#include "train/metrics.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/check.h"
#include "formats/file.h"
#include "train/loop.h"

namespace inkling::train {

MetricsFile::MetricsFile(const std::filesystem::path& path, std::size_t last_step) : path_(path) {
    if (std::filesystem::exists(path)) {
        std::istringstream old(formats::read_file(path));
        std::string kept;
        for (std::string line; std::getline(old, line);) {
            const auto json = nlohmann::json::parse(line, nullptr, false);
            if (json.is_object() && json.value("step", std::size_t{0}) <= last_step) kept += line + "\n";
        }
        formats::write_file_atomic(path, kept);
    }
    file_ =
        std::shared_ptr<std::FILE>(std::fopen(path.c_str(), "a"), [](std::FILE* f) { return f ? std::fclose(f) : 0; });
    check(file_ != nullptr, "{}: cannot be written: {}", path.string(), std::strerror(errno));
}

void MetricsFile::step_done(TrainingLoop& loop) {
    if (loop.log_due() && std::isfinite(loop.metrics().grad_norm)) write(loop.metrics());
}

void MetricsFile::stopped(TrainingLoop& loop) {
    const Metrics& last = loop.metrics();
    if (last.step != 0 && last.step != written_ && std::isfinite(last.grad_norm)) write(last);
}

nlohmann::ordered_json json_of(const Metrics& metrics) {
    nlohmann::ordered_json line = {{"step", metrics.step}, {"loss", metrics.loss}};
    if (metrics.val_loss) {
        line["val_loss"] = *metrics.val_loss;
        line["val_tokens"] = metrics.val_tokens;
    }
    if (metrics.bits_per_byte) line["bits_per_byte"] = *metrics.bits_per_byte;
    line["lr"] = metrics.lr;
    line["grad_norm"] = metrics.grad_norm;
    line["tok_s"] = metrics.tok_s;
    line["train_s"] = metrics.train_s;
    line["elapsed_s"] = metrics.elapsed_s;
    return line;
}

void MetricsFile::write(const Metrics& metrics) {
    written_ = metrics.step;
    const std::string text = json_of(metrics).dump() + "\n";
    const bool written = std::fputs(text.c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0;
    check(written, "{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

}  // namespace inkling::train
