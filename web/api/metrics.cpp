#include "web/api/metrics.h"

#include <fmt/format.h>

namespace inkling::web {
namespace {

void write_head(std::string& text, const char* type, const std::string& name, const std::string& help) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <class Number>
void write_value(std::string& text, const char* type, const std::string& name, const std::string& help, Number value) {
    write_head(text, type, name, help);
    text += fmt::format("{} {}\n", name, value);
}

}  // namespace

void Metrics::Histogram::add(double value) {
    for (std::size_t i = 0; i < kBounds.size(); ++i) counts[i] += value <= kBounds[i];
    ++count;
    sum += value;
}

void Metrics::Histogram::write(std::string& text, const std::string& name, const std::string& help) const {
    write_head(text, "histogram", name, help);
    for (std::size_t i = 0; i < kBounds.size(); ++i)
        text += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, kBounds[i], counts[i]);
    text += fmt::format("{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", name, count, name, sum, name, count);
}

void Metrics::request_done(const std::string& path, int status, double seconds) {
    const std::lock_guard lock(mutex_);
    ++requests_[{path, status}];
    request_seconds_.add(seconds);
}

void Metrics::prompt_read(std::size_t tokens, double seconds) {
    const std::lock_guard lock(mutex_);
    prompt_tokens_ += tokens;
    prompt_seconds_ += seconds;
}

void Metrics::tokens_written(std::size_t tokens, double seconds) {
    const std::lock_guard lock(mutex_);
    written_tokens_ += tokens;
    writing_seconds_ += seconds;
    ++steps_;
}

void Metrics::first_token(double seconds) {
    const std::lock_guard lock(mutex_);
    first_token_seconds_.add(seconds);
}

std::string Metrics::text(std::size_t connections) const {
    const std::lock_guard lock(mutex_);
    std::string text;
    write_head(text, "counter", "inkling_requests_total", "Requests that were answered, by path and status.");
    for (const auto& [key, n] : requests_)
        text += fmt::format("inkling_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, n);
    request_seconds_.write(text, "inkling_request_seconds", "Time from a request's headers to the end of its answer.");
    first_token_seconds_.write(text, "inkling_first_token_seconds", "Time from a request to its first text.");
    write_value(text, "counter", "inkling_prompt_tokens_total", "Tokens of prompts.", prompt_tokens_);
    write_value(text, "counter", "inkling_prompt_seconds_total", "Time in reading prompts.", prompt_seconds_);
    write_value(text, "counter", "inkling_generated_tokens_total", "Tokens that were written.", written_tokens_);
    write_value(text, "counter", "inkling_generation_seconds_total", "Time in writing tokens.", writing_seconds_);
    write_value(text, "counter", "inkling_steps_total", "Steps, each a token for every text.", steps_);
    write_value(text, "counter", "inkling_abandoned_texts_total", "Texts whose clients hung up.", abandoned_.load());
    write_value(text, "gauge", "inkling_texts_running", "Texts that are being written.", running());
    write_value(text, "gauge", "inkling_texts_waiting", "Texts that wait for a place.", waiting());
    write_value(text, "gauge", "inkling_connections", "Open connections.", connections);
    return text;
}

}  // namespace inkling::web
