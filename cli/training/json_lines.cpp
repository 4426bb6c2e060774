#include "cli/training/json_lines.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "formats/json.h"
#include "train/loop.h"
#include "train/settings/settings.h"

namespace inkling::cli {

using nlohmann::ordered_json;

ordered_json plan_json(const train::TrainOptions& options, std::size_t parameters, std::size_t tokens,
                       std::size_t vocab_size, std::size_t threads) {
    return {{"event", "plan"},          {"parameters", parameters},   {"tokens", tokens},
            {"vocab_size", vocab_size}, {"steps", options.max_iters}, {"tokens_per_step", options.tokens_per_step()},
            {"threads", threads},       {"seed", options.seed},       {"settings", train::settings_json(options)}};
}

void JsonLines::plan(const ordered_json& plan) {
    plan_ = plan;
    write("plan", plan_);
}

void JsonLines::replanned(train::TrainingLoop& loop) {
    plan_["steps"] = plan_["settings"]["max_iters"] = loop.options().max_iters;
    write("plan", plan_);
}

void JsonLines::sample(const train::TrainingLoop& loop, const std::string& prompt, const std::string& text) {
    write("sample", {{"step", loop.state().step}, {"prompt", prompt}, {"text", text}});
}

void JsonLines::step_refused(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();  // non-finite numbers become null
    write("anomaly", {{"step", m.step},
                      {"kind", "not_finite"},
                      {"where", loop.anomaly()},
                      {"loss", m.loss},
                      {"grad_norm", m.grad_norm},
                      {"lr", m.lr},
                      {"skipped", true}});
}

void JsonLines::spike(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();
    write("anomaly", {{"step", m.step},
                      {"kind", "spike"},
                      {"loss", m.loss},
                      {"grad_norm", m.grad_norm},
                      {"lr", m.lr},
                      {"loss_z", m.z.loss},
                      {"grad_norm_z", m.z.grad_norm},
                      {"skipped", m.skipped}});
}

void JsonLines::step_done(train::TrainingLoop& loop) {
    if (loop.log_due()) step(loop);
}

void JsonLines::step(const train::TrainingLoop& loop) {
    if (!std::isfinite(loop.metrics().grad_norm)) return;
    last_step_ = loop.metrics().step;
    write("step", json_of(loop.metrics()));
}

void JsonLines::evaluated(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();
    write("evaluation", {{"step", m.step},
                         {"val_loss", *m.val_loss},
                         {"val_tokens", m.val_tokens},
                         {"bits_per_byte", loop.bits_per_byte(*m.val_loss)},
                         {"best", loop.state().best_step == m.step},
                         {"train_s", m.train_s},
                         {"elapsed_s", m.elapsed_s}});
}

void JsonLines::stopped(train::TrainingLoop& loop) {
    if (loop.metrics().step != last_step_) step(loop);
}

void JsonLines::end(const train::TrainingLoop& loop, const std::filesystem::path& run, const std::string& sha256) {
    const train::TrainingState& state = loop.state();
    const train::TrainOptions& options = loop.options();
    ordered_json line = {{"step", state.step},           {"reason", name_of(loop.stop_reason())},
                         {"best_val_loss", nullptr},     {"best_bits_per_byte", nullptr},
                         {"best_step", state.best_step}, {"train_s", state.train_s},
                         {"elapsed_s", state.elapsed_s}, {"seed", options.seed},
                         {"model", run.string()},        {"sha256", sha256}};
    if (std::isfinite(state.best_val_loss)) {
        line["best_val_loss"] = state.best_val_loss;
        line["best_bits_per_byte"] = loop.bits_per_byte(state.best_val_loss);
    }
    write("end", line);
    if (!failure_.empty()) throw Error(failure_);
}

void JsonLines::write(const char* event, const ordered_json& keys) {
    if (!failure_.empty()) return;
    ordered_json line = {{"event", event}};
    line.update(keys);
    try {
        print(formats::json_text(line) + "\n");
    } catch (const Error& e) {
        failure_ = e.what();
    }
}

}  // namespace inkling::cli
