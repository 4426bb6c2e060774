#include "generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/check.h"
#include "engine/kernels/simd.h"

namespace inkling::generate {
namespace {

std::vector<float> penalized(std::span<const float> logits, const SamplingOptions& options,
                             std::span<const std::int32_t> text, std::size_t written) {
    std::vector<float> z(logits.begin(), logits.end());
    for (const auto& [id, bias] : options.logit_bias) {
        if (static_cast<std::size_t>(id) < z.size()) z[static_cast<std::size_t>(id)] += static_cast<float>(bias);
    }
    const double penalty = options.repeat_penalty;
    if (penalty != 1) {
        std::vector<bool> seen(z.size());
        for (const std::int32_t t : text) {
            const auto i = static_cast<std::size_t>(t);
            if (i >= z.size() || seen[i]) continue;
            seen[i] = true;
            z[i] = static_cast<float>(z[i] > 0 ? z[i] / penalty : z[i] * penalty);
        }
    }
    if (options.presence_penalty == 0 && options.frequency_penalty == 0) return z;
    std::map<std::int32_t, int> counts;
    for (const std::int32_t t : text.last(written)) ++counts[t];
    for (const auto& [id, n] : counts) {
        if (static_cast<std::size_t>(id) >= z.size()) continue;
        z[static_cast<std::size_t>(id)] -= static_cast<float>(options.presence_penalty + n * options.frequency_penalty);
    }
    return z;
}

// Token ids in order of their weights, sorted no further than was asked for: text mostly needs the first few of 50,000.
class Likeliest {
  public:
    explicit Likeliest(std::span<const float> weights) : weights_(weights), order_(weights.size()) {
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
    std::vector<std::int32_t> order_;
    std::size_t sorted_ = 0;
};

// Leaves the k likeliest, and of those the first that make up p of their sum; the others get weight 0.
void keep_likeliest(std::vector<float>& weight, std::span<const float> z, std::size_t k, double p) {
    Likeliest order(z);
    std::vector<float> kept(weight.size(), 0.0f);
    double total = 0;
    if (k < weight.size()) {
        for (std::size_t i = 0; i < k; ++i) total += weight[static_cast<std::size_t>(order[i])];
    } else {
        total = std::accumulate(weight.begin(), weight.end(), 0.0);
    }
    double sum = 0;
    for (std::size_t i = 0; i < k && (i == 0 || p >= 1 || sum < p * total); ++i) {
        const auto token = static_cast<std::size_t>(order[i]);
        sum += kept[token] = weight[token];
    }
    weight = std::move(kept);
}

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

std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options, double uniform,
                          std::span<const std::int32_t> text, std::size_t written) {
    check(!logits.empty(), "sample: at least one logit is required");
    options.validate();
    check(!has_nan(logits.size(), logits.data()), "sample: the model gives logits that are not numbers");
    const std::vector<float> z = penalized(logits, options, text, written);
    const std::size_t n = z.size();
    const auto likeliest = static_cast<std::int32_t>(std::max_element(z.begin(), z.end()) - z.begin());
    if (options.temperature == 0) return likeliest;
    // e^((z - largest z) / temperature): probabilities up to a factor, the largest 1
    std::vector<float> weight(n);
    const Vec<float> top(z[static_cast<std::size_t>(likeliest)]);
    const Vec<float> inverse(static_cast<float>(std::min(1 / options.temperature, 1e30)));
    simd_map(
        n, weight.data(), [=](auto v) { return xsimd::exp((v - top) * inverse); }, z.data());
    weight[static_cast<std::size_t>(likeliest)] = 1;  // also where infinities leave none
    const std::size_t k = options.top_k ? std::min(options.top_k, n) : n;
    if (k < n || options.top_p < 1) keep_likeliest(weight, z, k, options.top_p);
    const auto least = static_cast<float>(options.min_p);
    double total = 0;
    for (float& w : weight) {
        if (!(w >= least)) w = 0;
        total += w;
    }
    double left = uniform * total;
    for (std::size_t i = 0; i < n; ++i) {
        if (weight[i] > 0 && left < weight[i]) return static_cast<std::int32_t>(i);
        left -= weight[i];
    }
    return likeliest;  // rounding used all of it up
}

TokenLogprobs token_logprobs(std::span<const float> logits, std::int32_t token, std::size_t n) {
    const double top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float z : logits) sum += std::exp(z - top);
    const double shift = top + std::log(sum);
    const auto of = [&](std::int32_t id) { return Logprob{id, logits[static_cast<std::size_t>(id)] - shift}; };
    TokenLogprobs result{of(token), {}};
    Likeliest order(logits);
    for (std::size_t i = 0; i < std::min(n, logits.size()); ++i) result.top.push_back(of(order[i]));
    return result;
}

}  // namespace inkling::generate
