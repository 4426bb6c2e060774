#include "models/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ops/shape.h"
#include "engine/random.h"

namespace inkling::models {

void GenerateOptions::fit(const data::Tokenizer& tokenizer) {
    vocab_size = tokenizer.vocab_size();
    end_of_text = tokenizer.end_of_text();
}

std::int32_t sample_token(std::span<const float> logits, const GenerateOptions& options, double uniform) {
    check(!logits.empty(), "sample: at least one logit is required");
    check(options.temperature >= 0, "sample: a temperature of at least 0 is required, got {}", options.temperature);
    for (const float z : logits) check(!std::isnan(z), "sample: the model gives logits that are not numbers");
    if (options.temperature == 0) {
        return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
    std::vector<std::int32_t> order(logits.size());  // likeliest first; equals by id
    std::iota(order.begin(), order.end(), 0);
    const auto likelier = [&](std::int32_t a, std::int32_t b) {
        const float za = logits[static_cast<std::size_t>(a)], zb = logits[static_cast<std::size_t>(b)];
        return za != zb ? za > zb : a < b;
    };
    const std::size_t k = options.top_k ? std::min(options.top_k, order.size()) : order.size();
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(), likelier);
    order.resize(k);
    std::vector<double> weight(k);
    const double top = logits[static_cast<std::size_t>(order[0])];
    for (std::size_t i = 0; i < k; ++i) {
        weight[i] = std::exp((logits[static_cast<std::size_t>(order[i])] - top) / options.temperature);
    }
    double left = uniform * std::accumulate(weight.begin(), weight.end(), 0.0);
    for (std::size_t i = 0; i < k; ++i) {
        if (left < weight[i]) return order[i];
        left -= weight[i];
    }
    return order[0];  // rounding used the lot up
}

namespace {

// Logits of the token after `window`. The window is padded to one of a few lengths, because each new shape costs the
// matrix library a compilation; causal attention never looks at what comes after.
std::vector<float> next_logits(const LanguageModel<float>& model, std::span<const std::int32_t> window) {
    constexpr std::size_t kStep = 32;
    const std::size_t length = std::min((window.size() + kStep - 1) / kStep * kStep, model.config.block_size);
    IdArray ids({1, length}, 0);
    std::copy(window.begin(), window.end(), ids.data());
    const Tensor<float> last = slice(model.hidden(ids), 1, window.size() - 1, window.size());  // (1, 1, C)
    const Tensor<float> logits = model.logits(last);
    return std::vector<float>(logits.value().data(), logits.value().data() + logits.size());
}

}  // namespace

std::vector<std::int32_t> generate(const LanguageModel<float>& model, std::span<const std::int32_t> prompt,
                                   const GenerateOptions& options, const std::function<bool(std::int32_t)>& on_token) {
    check(!prompt.empty(), "generate: a prompt of at least one token is required");
    check(!model.training(), "generate: the model must be in evaluation mode: call eval()");
    const NoGrad no_grad;
    std::vector<std::int32_t> text(prompt.begin(), prompt.end());
    for (std::size_t i = 0; i < options.max_tokens; ++i) {
        const std::size_t seen = std::min(text.size(), model.config.block_size);
        const auto logits = next_logits(model, std::span(text).last(seen));
        const std::size_t known = options.vocab_size ? std::min(options.vocab_size, logits.size()) : logits.size();
        const double lot = random_uniform({options.seed, options.sample}, i);
        const std::int32_t token = sample_token(std::span(logits).first(known), options, lot);
        if (token == options.end_of_text) break;
        text.push_back(token);
        if (on_token && !on_token(text.back())) break;
    }
    return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
}

}  // namespace inkling::models
