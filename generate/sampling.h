// Chooses a token from a model's logits:
//   Sampler sampler(options);
//   token = sampler.sample(logits, uniform);
// Applies the options that are on in this order, the order of transformers:
//   0. logit bias: z + b
//   1. repeat penalty r (Keskar et al. 2019): for tokens of the text, a logit z > 0 becomes z / r, others z r;
//      then, for tokens generated c > 0 times, z - presence penalty - c frequency penalty, as in OpenAI's API
//   2. temperature t: z / t. 0: takes the largest z after step 1 and skips the other steps
//   3. top-k: keeps the k likeliest tokens
//   4. top-p (Holtzman et al. 2019): keeps the fewest of the likeliest whose renormalized probabilities sum to p
//   5. min-p (Nguyen et al. 2024): keeps tokens at least min_p times as likely as the likeliest
//   6. samples one of those by its probability
// Among equally likely tokens the smaller id comes first.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace inkling::generate {

struct SamplingOptions {
    double temperature = 0.8;                            // 0: always the likeliest token
    std::size_t top_k = 0;                               // 0: off
    double top_p = 1;                                    // 1: off
    double min_p = 0;                                    // 0: off
    double repeat_penalty = 1;                           // 1: off
    double presence_penalty = 0, frequency_penalty = 0;  // 0: off
    std::map<std::int32_t, double> logit_bias = {};

    void validate() const;  // throws, naming the flag to change
};

class Sampler {
  public:
    explicit Sampler(SamplingOptions options);  // throws as validate() does

    // `uniform` in [0, 1) is the random number. The repeat penalty counts all tokens of `text`, the other two the last
    // `written`.
    std::int32_t sample(std::span<const float> logits, double uniform, std::span<const std::int32_t> text = {},
                        std::size_t written = 0);

  private:
    std::span<const float> penalize(std::span<const float> logits, std::span<const std::int32_t> text,
                                    std::size_t written);
    void keep_likeliest(std::span<const float> z, std::size_t k, double p);

    SamplingOptions options_;
    // Buffers of the vocabulary's size, reused for each token.
    std::vector<float> penalized_, weight_;
    std::vector<bool> seen_;
    std::vector<std::int32_t> order_;
};

// log softmax of the logits at a token: the model's log-probability, before any option.
struct Logprob {
    std::int32_t id;
    double logprob;
};
struct TokenLogprobs : Logprob {
    std::vector<Logprob> top;  // the likeliest alternatives, in order
};
// For `token` and the n likeliest.
TokenLogprobs token_logprobs(std::span<const float> logits, std::int32_t token, std::size_t n);

}  // namespace inkling::generate
