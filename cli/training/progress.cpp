#include "cli/training/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/common.h"
#include "cli/log.h"
#include "cli/terminal/terminal.h"
#include "engine/base/clock.h"
#include "engine/base/names.h"
#include "train/loop.h"
#include "train/recipes/estimate.h"
#include "train/recipes/speed.h"

namespace inkling::cli {
namespace {

double unsigned_nan(double x) { return std::isnan(x) ? std::abs(x) : x; }

// Warns if evaluations, checkpoints and samples of a large model add much to --max-time.
std::string time_on_top(const train::TrainOptions& o, const models::Architecture& model, double tokens,
                        double seconds_per_step) {
    constexpr double kMuch = 1.25;
    const train::Estimate sizes = train::estimate_sizes(o, model, tokens);
    const auto [training, all] = train::planned_seconds(o, sizes, tokens, seconds_per_step);
    if (all < kMuch * training) return "";
    return fmt::format(
        "; about {} in all, {} of them training: the rest is for evaluations, samples and checkpoints of {}",
        short_time(all), short_time(training), quantity(sizes.checkpoint_bytes, "B"));
}

}  // namespace

std::string short_time(double seconds) {
    const auto s = static_cast<long>(std::min(seconds, 1e15) + 0.5);
    if (s < 60) return fmt::format("{}s", s);
    if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
    if (s < 86400) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
    return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

std::string loss_text(double nats, double bits_per_byte) {
    return std::isfinite(bits_per_byte) ? fmt::format("{:.4f} ({:.4f} bits per byte)", nats, bits_per_byte)
                                        : fmt::format("{:.4f}", nats);
}

Report::Report(bool quiet, bool silent) : quiet_(quiet || silent), silent_(silent), terminal_(isatty(STDERR_FILENO)) {}

Report::~Report() { wipe(); }

void Report::wipe() {
    if (moving_ == 0) return;
    const std::size_t above = (moving_ - 1) / terminal_columns(STDERR_FILENO);  // rows, if the terminal became narrower
    std::fputs(above > 0 ? fmt::format("\x1b[{}A\r\x1b[J", above).c_str() : "\r\x1b[K", stderr);
    moving_ = 0;
}

void Report::note(const std::string& text) {
    wipe();
    if (!quiet_) spdlog::info("{}", text);
}

void Report::warn(const std::string& text) {
    wipe();
    if (!silent_) spdlog::warn("{}", text);
}

// A terminal overwrites the last moving line; elsewhere there is a line every 5 seconds.
bool Report::moving_line(std::string text) {
    if (quiet_) return false;
    if (terminal_) {
        const std::size_t width = terminal_columns(STDERR_FILENO);
        text.resize(cut_text(text, width - 1).size());  // a wrapped line cannot be wiped
        wipe();
        std::fputs(text.c_str(), stderr);
        std::fflush(stderr);
        moving_ = text.size();
        return false;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_plain_line_) return false;
    next_plain_line_ = now + std::chrono::seconds(5);
    note(text);
    return true;
}

void Report::encoding(std::size_t done, std::size_t all) {
    constexpr std::size_t kLarge = 64 << 20;
    if (all < kLarge) return;
    moving_line(fmt::format("text to tokens: {:.0f}% of {:.2f} GB",
                            100.0 * static_cast<double>(done) / static_cast<double>(all),
                            static_cast<double>(all) / 1e9));
    if (done == all) wipe();
}

void Report::planned(const train::TrainOptions& o, const models::Architecture& model, double text_tokens,
                     double seconds_per_step) {
    note(fmt::format("{}, {}, width {}, {}; {} of {} of {}{}", counted(o.n_layer, "layer"), counted(o.n_head, "head"),
                     o.n_embd, name_of(o.precision), counted(o.max_iters, "step"), counted(o.batch_size, "sequence"),
                     counted(o.block_size, "token"),
                     seconds_per_step > 0 ? time_on_top(o, model, text_tokens, seconds_per_step) : ""));
}

void Report::sample(const std::string& text) { note("--- a sample ---\n" + text + "\n----------------"); }

void Report::step_refused(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();
    warn(fmt::format("step {}: {}; loss {:.4g}, gradient norm {:.4g}, learning rate {:.3g}: the step is skipped",
                     m.step, loop.anomaly(), unsigned_nan(m.loss), unsigned_nan(m.grad_norm), m.lr));
}

void Report::spike(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();
    const bool loss = m.z.loss > m.z.grad_norm;
    warn(fmt::format("step {}: a spike: {} {:.4g} is {:.1f} standard deviations above those before{}", m.step,
                     loss ? "loss" : "gradient norm", loss ? m.loss : m.grad_norm, m.z.largest(),
                     m.skipped ? ": the step is skipped" : ""));
}

void Report::step_done(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();
    const train::TrainOptions& options = loop.options();
    if (m.step == 1 && options.init_from.empty()) {
        const double expected = std::log(static_cast<double>(loop.model().config.vocab_size));
        if (std::abs(m.loss - expected) > 0.05 * expected + 0.05)
            warn(fmt::format(
                "the first loss is {:.3f}, far from ln(vocabulary) = {:.3f}: initial weights or data are off", m.loss,
                expected));
    }
    if (!loop.log_due() || m.val_loss) return;
    if (moving_line(fmt::format("step {}/{}  loss {:.4f}  {:.0f} tok/s  ETA {}", m.step, options.max_iters, m.loss,
                                m.tok_s, short_time(loop.seconds_left()))))
        shown_step_ = m.step;
}

void Report::evaluating(train::TrainingLoop& loop, double done) {
    if (done == 0) return;  // most evaluations are short
    moving_line(fmt::format("step {}/{}  loss {:.4f}  evaluating {:.0f}%", loop.metrics().step,
                            loop.options().max_iters, loop.metrics().loss, 100 * done));
}

void Report::evaluated(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();
    shown_step_ = m.step;
    if (m.step == 0)
        return note(
            fmt::format("before training: validation {}", loss_text(*m.val_loss, loop.bits_per_byte(*m.val_loss))));
    note(fmt::format("step {}/{}  loss {:.4f}  validation {}  {:.0f} tok/s  {} trained", m.step,
                     loop.options().max_iters, m.loss, loss_text(*m.val_loss, loop.bits_per_byte(*m.val_loss)), m.tok_s,
                     short_time(m.train_s)));
}

void Report::replanned(train::TrainingLoop& loop) {
    const train::TrainOptions& o = loop.options();
    const std::size_t before = o.plan.changes.back().steps_before;
    if (10 * std::max(o.max_iters, before) <= 11 * std::min(o.max_iters, before)) return;  // the next lines show it
    note(fmt::format("planned again: {} steps instead of {} fit the time", o.max_iters, before));
}

// Prints the last step, if it has no line yet.
void Report::stopped(train::TrainingLoop& loop) {
    const train::Metrics& m = loop.metrics();
    if (m.step == shown_step_) return;
    note(fmt::format("step {}/{}  loss {:.4f}  {:.0f} tok/s  {} trained", m.step, loop.options().max_iters, m.loss,
                     m.tok_s, short_time(m.train_s)));
}

Progress::Progress(std::string what) : what_(std::move(what)), began_(seconds_now()) {}

void Progress::show(double done) {
    constexpr double kLong = 2, kOften = 0.1;  // seconds
    const double passed = seconds_now() - began_;
    if (passed < next_ || (passed < kLong && isatty(STDERR_FILENO) == 0)) return;
    next_ = passed + kOften;
    const std::string left = done > 0 ? "  ETA " + short_time(passed * (1 - done) / done) : "";
    report_.moving_line(fmt::format("{}: {:.0f}%{}", what_, 100 * done, left));
}

}  // namespace inkling::cli
