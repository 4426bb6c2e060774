#include "generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/check.h"
#include "engine/base/portable_math.h"
#include "engine/kernels/simd.h"

namespace inkling::generate {
namespace {

// Token ids in order of their weights, sorted no further than was asked for: text mostly needs the first few of 50,000.
class Likeliest {
  public:
    Likeliest(std::span<const float> weights, std::vector<std::int32_t>& order) : weights_(weights), order_(order) {
        order_.resize(weights.size());
        std::iota(order_.begin(), order_.end(), 0);
    }
    std::int32_t operator[](std::size_t i) {
        while (i >= sorted_) {
            const std::size_t end = std::min(order_.size(), std::max<std::size_t>(64, 4 * sorted_));
            const auto at = [&](std::size_t n) { return order_.begin() + static_cast<std::ptrdiff_t>(n); };
            std::partial_sort(at(sorted_), at(end), order_.end(), [&](std::int32_t a, std::int32_t b) {
                const float wa = weights_[static_cast<std::size_t>(a)], wb = weights_[static_cast<std::size_t>(b)];
                return wa != wb ? wa > wb : a < b;
            });
            sorted_ = end;
        }
        return order_[i];
    }

  private:
    std::span<const float> weights_;
    std::vector<std::int32_t>& order_;
    std::size_t sorted_ = 0;
};

}  // namespace

void SamplingOptions::validate() const {
    check(temperature >= 0 && std::isfinite(temperature), "--temperature must be at least 0, got {}", temperature);
    check(top_p > 0 && top_p <= 1, "--top-p must be above 0 and at most 1, got {}", top_p);
    check(min_p >= 0 && min_p <= 1, "--min-p must be from 0 to 1, got {}", min_p);
    check(repeat_penalty > 0 && std::isfinite(repeat_penalty), "--repeat-penalty must be above 0, got {}",
          repeat_penalty);
    check(std::isfinite(presence_penalty), "--presence-penalty must be a number, got {}", presence_penalty);
    check(std::isfinite(frequency_penalty), "--frequency-penalty must be a number, got {}", frequency_penalty);
}

Sampler::Sampler(SamplingOptions options) : options_(std::move(options)) { options_.validate(); }

std::span<const float> Sampler::penalize(std::span<const float> logits, std::span<const std::int32_t> text,
                                         std::size_t written) {
    const double penalty = options_.repeat_penalty;
    const bool counts = options_.presence_penalty != 0 || options_.frequency_penalty != 0;
    if (options_.logit_bias.empty() && penalty == 1 && !counts) return logits;
    std::vector<float>& z = penalized_;
    z.assign(logits.begin(), logits.end());
    for (const auto& [id, bias] : options_.logit_bias) {
        if (static_cast<std::size_t>(id) < z.size()) z[static_cast<std::size_t>(id)] += static_cast<float>(bias);
    }
    if (penalty != 1) {
        seen_.assign(z.size(), false);
        for (const std::int32_t t : text) {
            const auto i = static_cast<std::size_t>(t);
            if (i >= z.size() || seen_[i]) continue;
            seen_[i] = true;
            z[i] = static_cast<float>(z[i] > 0 ? z[i] / penalty : z[i] * penalty);
        }
    }
    if (!counts) return z;
    std::map<std::int32_t, int> times;
    for (const std::int32_t t : text.last(written)) ++times[t];
    for (const auto& [id, n] : times) {
        if (static_cast<std::size_t>(id) >= z.size()) continue;
        z[static_cast<std::size_t>(id)] -=
            static_cast<float>(options_.presence_penalty + n * options_.frequency_penalty);
    }
    return z;
}

// Keeps the k likeliest, then the fewest of these that reach p of their sum; the others get weight 0.
void Sampler::keep_likeliest(std::span<const float> z, std::size_t k, double p) {
    Likeliest order(z, order_);
    double total = 0;
    if (k < z.size()) {
        for (std::size_t i = 0; i < k; ++i) total += weight_[static_cast<std::size_t>(order[i])];
    } else {
        total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    }
    double sum = 0;
    std::size_t kept = 0;
    for (; kept < k && (kept == 0 || p >= 1 || sum < p * total); ++kept)
        sum += weight_[static_cast<std::size_t>(order[kept])];
    for (std::size_t i = kept; i < z.size(); ++i) weight_[static_cast<std::size_t>(order_[i])] = 0;
}

std::int32_t Sampler::sample(std::span<const float> logits, double uniform, std::span<const std::int32_t> text,
                             std::size_t written) {
    check(!logits.empty(), "sample: at least one logit is required");
    check(!has_nan(logits.size(), logits.data()), "sample: the model gives logits that are not numbers");
    const std::span<const float> z = penalize(logits, text, written);
    const std::size_t n = z.size();
    const auto likeliest = static_cast<std::int32_t>(std::max_element(z.begin(), z.end()) - z.begin());
    if (options_.temperature == 0) return likeliest;
    // e^((z - largest z) / temperature): probabilities up to a factor, the largest 1
    weight_.resize(n);
    const Vec<float> top(z[static_cast<std::size_t>(likeliest)]);
    const Vec<float> inverse(static_cast<float>(std::min(1 / options_.temperature, 1e30)));
    simd_map(n, weight_.data(), {z.data()}, [=](auto v) { return portable::exp((v - top) * inverse); });
    weight_[static_cast<std::size_t>(likeliest)] = 1;  // also if infinities leave no weight above 0
    const std::size_t k = options_.top_k ? std::min(options_.top_k, n) : n;
    if (k < n || options_.top_p < 1) keep_likeliest(z, k, options_.top_p);
    const auto least = static_cast<float>(options_.min_p);
    double total = 0;
    for (float& w : weight_) {
        if (!(w >= least)) w = 0;
        total += w;
    }
    double left = uniform * total;
    for (std::size_t i = 0; i < n; ++i) {
        if (weight_[i] > 0 && left < weight_[i]) return static_cast<std::int32_t>(i);
        left -= weight_[i];
    }
    return likeliest;  // `left` is above 0 by a rounding error
}

TokenLogprobs token_logprobs(std::span<const float> logits, std::int32_t token, std::size_t n) {
    const double top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float z : logits) sum += portable::exp(z - top);
    const double shift = top + portable::log(sum);
    const auto of = [&](std::int32_t id) { return Logprob{id, logits[static_cast<std::size_t>(id)] - shift}; };
    TokenLogprobs result{of(token), {}};
    if (n == 0) return result;
    std::vector<std::int32_t> ids;
    Likeliest order(logits, ids);
    for (std::size_t i = 0; i < std::min(n, logits.size()); ++i) result.top.push_back(of(order[i]));
    return result;
}

}  // namespace inkling::generate
