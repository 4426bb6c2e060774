#include "cli/written_text.h"

#include <utility>

namespace inkling::cli {

WrittenText::WrittenText(models::Generator generator, const data::Tokenizer& tokenizer,
                         const std::vector<std::string>& stops, std::size_t logprobs, double start)
    : generator_(std::move(generator)),
      tokenizer_(&tokenizer),
      stops_(stops),
      logprobs_(logprobs),
      before_(generator_.made()),
      start_(start) {
    if (generator_.ended()) end("length");  // of no tokens at all
}

void WrittenText::advance(std::vector<WrittenText>& texts) {
    std::vector<models::Generator*> generators;
    std::vector<WrittenText*> going;
    for (WrittenText& text : texts) {
        if (text.done()) continue;
        generators.push_back(&text.generator_);
        going.push_back(&text);
    }
    models::Generator::advance(generators);
    for (WrittenText* const text : going) text->update();
}

void WrittenText::update() {
    last_ = seconds_now();
    if (first_ == 0) first_ = last_;
    if (generator_.at_end()) return end("end_of_text");
    const std::int32_t token = generator_.tokens().back();
    if (logprobs_ > 0) note_probabilities(token);
    fresh_ += stops_.push(characters_.push(tokenizer_->decode(std::span(&token, 1))));
    if (stops_.found()) {
        end("stop");
    } else if (generator_.ended()) {
        end("length");
    }
}

void WrittenText::end(const char* reason) {
    if (done()) return;
    reason_ = reason;
    fresh_ += stops_.push(characters_.finish()) + stops_.finish();
}

std::string WrittenText::take() {
    text_ += fresh_;
    return std::exchange(fresh_, "");
}

void WrittenText::note_probabilities(std::int32_t token) {
    const auto entry = [&](const models::TokenProbability& p) {
        const bool known = static_cast<std::size_t>(p.token) < tokenizer_->vocab_size();
        const std::string piece = known ? tokenizer_->decode(std::span(&p.token, 1)) : "";
        return nlohmann::ordered_json{
            {"id", p.token}, {"text", data::to_valid_utf8(piece)}, {"logprob", p.log_probability}};
    };
    const auto all = models::log_probabilities(generator_.logits(), token, logprobs_);
    nlohmann::ordered_json chosen = entry(all[0]);
    for (std::size_t i = 1; i < all.size(); ++i) chosen["top"].push_back(entry(all[i]));
    probabilities_.push_back(std::move(chosen));
}

nlohmann::ordered_json WrittenText::json(std::size_t prompt_tokens, std::uint64_t seed) const {
    const auto speed = [](std::size_t n, double seconds) {
        return seconds > 0 ? static_cast<double>(n) / seconds : 0.0;
    };
    const std::size_t made = generator_.made() - before_;
    nlohmann::ordered_json line = {{"text", text_ + fresh_},
                                   {"tokens", made},
                                   {"prompt_tokens", prompt_tokens},
                                   {"tok_s", speed(made > 0 ? made - 1 : 0, last_ - first_)},
                                   {"prompt_tok_s", speed(prompt_tokens, first_ - start_)},
                                   {"seed", seed},
                                   {"stop_reason", reason_}};
    if (logprobs_ > 0) line["logprobs"] = probabilities_;
    return line;
}

}  // namespace inkling::cli
