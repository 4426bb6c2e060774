#include "train/run/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "train/loop.h"

namespace inkling::train {

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
