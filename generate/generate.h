// Text, token by token, from a model.
//   Generator text(model, options);
//   text.add(tokenizer->encode("The "));
//   while (const auto token = text.next()) std::cout << tokenizer->decode(std::span(&*token, 1));
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "data/tokenizers/tokenizer.h"
#include "generate/sampling.h"
#include "models/decoder.h"

namespace inkling::models {

struct GenerateOptions : SamplingOptions {
    std::size_t max_tokens = 200;
    std::uint64_t seed = 1337;
    std::uint64_t sample = 0;  // which of several texts of one seed
    // When the context is full, this many of the oldest tokens leave it, and the rest is read again as a text of its
    // own; 0: half the context. 1 lets each token see as much as there can be, and reads all of it for each.
    std::size_t context_shift = 0;

    // Of a tokenizer, whose vocabulary may be smaller than the model's: larger ids are never drawn, and its end of
    // text, if it has one, ends the text and is no part of it.
    std::size_t vocab_size = 0;  // 0: the model's
    std::optional<std::int32_t> end_of_text = std::nullopt;
    void fit(const data::Tokenizer& tokenizer);
};

// A text in the making: what was added and what was made. Token number i that is made is drawn by the lot (seed,
// sample, i), so a text depends neither on threads nor on other texts.
class Generator {
  public:
    explicit Generator(std::shared_ptr<const Decoder> decoder, GenerateOptions options = {});
    explicit Generator(const Transformer<float>& model, GenerateOptions options = {});  // float32 weights

    // Appends tokens to the text. Of more than the context, the last that fit into it are seen.
    void add(std::span<const std::int32_t> tokens);

    // The next token; nothing after max_tokens of them or when the text is at its end. Throws when nothing was added.
    std::optional<std::int32_t> next();

    // next() for several texts of one decoder at once, which costs less than one after the other: the same tokens.
    // Texts that have ended are passed over.
    static void advance(std::span<Generator* const> texts);

    bool ended() const { return at_end_ || made_ >= options_.max_tokens; }
    bool at_end() const { return at_end_; }                         // options.end_of_text was drawn
    std::size_t made() const { return made_; }                      // tokens so far
    std::span<const std::int32_t> tokens() const { return text_; }  // added and made
    std::span<const float> logits() const { return logits_; }       // (V), from which the last token was drawn

    void allow(std::size_t more) { options_.max_tokens = made_ + more; }  // for a text that goes on after an end
    void read();  // what was added, now rather than with the next token: another() need not read it again
    Generator another(std::uint64_t sample) const;  // the same text as `sample` of the seed, what is read is kept

  private:
    void draw();

    std::shared_ptr<const Decoder> decoder_;
    GenerateOptions options_;
    std::vector<std::int32_t> text_;
    std::size_t begin_ = 0;  // of the window in the text that the model sees
    KvCache cache_;          // of what the model has read of the window
    std::vector<float> logits_;
    bool fresh_ = false;  // the logits are those after the last token
    std::size_t made_ = 0;
    bool at_end_ = false;
};

// Continues `prompt` (at least one token). Each token is handed to `on_token` as it is made, which ends the text by
// answering false. Returns the new tokens.
std::vector<std::int32_t> generate(const Transformer<float>& model, std::span<const std::int32_t> prompt,
                                   const GenerateOptions& options,
                                   const std::function<bool(std::int32_t)>& on_token = nullptr);

}  // namespace inkling::models
