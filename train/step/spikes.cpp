#include "train/step/spikes.h"
#include "formats/ascii.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace inkling::train {
namespace {

// The standard deviation counts as at least `least` times the mean, for losses that are nearly equal.
double score(const std::vector<double>& before, double x, double least) {
    if (before.size() < Spikes::kFewest) return 0;
    const auto n = static_cast<double>(before.size());
    const double mean = std::accumulate(before.begin(), before.end(), 0.0) / n;
    double squares = 0;
    for (const double v : before) squares += (v - mean) * (v - mean);
    const double deviation = std::max(std::sqrt(squares / n), least * std::abs(mean));
    return deviation > 0 ? (x - mean) / deviation : 0;
}

void add_to(std::vector<double>& values, double x) {
    if (values.size() == Spikes::kWindow) values.erase(values.begin());
    values.push_back(x);
}

}  // namespace

Spikes::Scores Spikes::scores(double loss, double grad_norm) const {
    // The norms of small models lie close together; one step in a hundred is well above, which does no harm.
    return {score(losses_, loss, 1e-3), score(grad_norms_, grad_norm, 0.2)};
}

void Spikes::add(double loss, double grad_norm) {
    add_to(losses_, loss);
    add_to(grad_norms_, grad_norm);
}

std::string Spikes::to_text() const {
    std::string text;
    for (std::size_t i = 0; i < losses_.size(); ++i)
        text += fmt::format("{}{} {}", i ? " " : "", losses_[i], grad_norms_[i]);
    return text;
}

bool Spikes::read(const std::string& text) {
    std::vector<double> numbers;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const auto x = formats::parse_number<double>(std::string_view(text).substr(begin, end - begin));
        if (!x || !std::isfinite(*x)) return false;
        numbers.push_back(*x);
        begin = end + 1;
    }
    if (numbers.size() % 2 != 0 || numbers.size() > 2 * kWindow) return false;
    losses_.clear(), grad_norms_.clear();
    for (std::size_t i = 0; i < numbers.size(); i += 2) add(numbers[i], numbers[i + 1]);
    return true;
}

}  // namespace inkling::train
