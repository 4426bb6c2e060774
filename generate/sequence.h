// Text from a model, token by token, alone or in a batch:
//   Sequence text(model, tokenizer.get(), options);
//   text.add("The ");
//   while (!text.finished()) std::cout << text.next();
// The texts of a batch are any sequences of one model: between two steps, some may join and others leave.
//   step(sequences);                                                          // one more token for each
//   for (Sequence* w : sequences) send(w->take(), w->finish_reason());
// A text is the same to the last bit alone and in a batch, and with any number of threads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "generate/sampling.h"
#include "generate/stop_texts.h"
#include "generate/utf8_stream.h"
#include "models/inference/inference_model.h"

namespace inkling::generate {

struct GenerateOptions : SamplingOptions {
    std::size_t max_tokens = 200;
    std::uint64_t seed = 1337;
    std::uint64_t sample = 0;  // which of several texts of one seed
    // When the context is full, this many of its oldest tokens are dropped, and the rest is read again; 0: half the
    // context. 1 lets each token see as much as there can be, and reads all of it for each.
    std::size_t context_shift = 0;
    bool special_tokens = false;         // a prompt that spells one, such as <|endoftext|>, has it; else that is text
    std::vector<std::string> stop = {};  // the text ends before the first of these
    std::optional<std::size_t> logprobs = std::nullopt;  // of each token, and of so many of the likeliest in its place
    bool prompt_logprobs = false;  // the same of the prompt's tokens, all of which must fit into the context
    std::vector<std::int32_t> end_tokens = {};  // these end a text, too: a chat model's end of a turn

    void validate() const;  // throws, naming the flag that is to change
};

enum class FinishReason { none, length, stop, end_of_text, interrupted };
const char* name(FinishReason reason);  // "length"

class Sequence {
  public:
    // The tokenizer must outlive the sequence; without one there are tokens alone, and no text. Ids that it does not
    // have are never sampled; its end of text, where it has one, ends the text and is no part of it.
    Sequence(std::shared_ptr<const models::InferenceModel> model, const data::Tokenizer* tokenizer,
             GenerateOptions options = {});
    Sequence(const models::Transformer<float>& model, const data::Tokenizer* tokenizer, GenerateOptions options = {});
    Sequence(Sequence&&) = default;
    Sequence& operator=(Sequence&&) = default;

    // Appends to the text, which must have a token before the first step. The model sees the last tokens that fit into
    // its context. To a text that is finished or has begun to be written, this starts a new turn: up to max_tokens
    // more.
    void add(std::span<const std::int32_t> tokens);

    // The same of text, which may be far longer than the context: of the tokens before that, each is kept once, for the
    // repeat penalty. The first text comes after the tokenizer's marks_before. An empty text goes on with what there
    // is; at the start, and after an end of text, with what a text begins with: those marks, else the end of another
    // text, if the model was trained so, else a line's end, else the first token. Throws BadInput where the tokenizer
    // does.
    void add(std::string_view text);

    void prefill();  // the prompt, now instead of with the first token: another() need not read it again
    Sequence another(std::uint64_t sample) const;  // the same text so far, going on as `sample` of the seed

    std::string next();   // step(), then take()
    std::string write();  // next(), until it is finished
    std::string take();   // the text since the last call: whole characters, none that may still begin a stop text
    void finish(FinishReason reason = FinishReason::interrupted);

    const std::shared_ptr<const models::InferenceModel>& model() const { return model_; }
    bool finished() const { return finish_reason_ != FinishReason::none; }
    FinishReason finish_reason() const { return finish_reason_; }
    std::span<const std::int32_t> tokens() const { return text_; }  // all: added and generated

    // Of this turn.
    std::span<const std::int32_t> generated() const { return tokens().last(generated_); }
    const std::vector<TokenLogprobs>& logprobs() const { return logprobs_; }            // of generated(), if asked for
    const std::optional<TokenLogprobs>& end_logprobs() const { return end_logprobs_; }  // of the end of text, likewise
    // Of all that was added, but for the first token, if asked for; once it has been read.
    const std::vector<TokenLogprobs>& prompt_logprobs() const { return prompt_logprobs_; }
    std::size_t prompt_tokens() const { return prompt_tokens_; }
    double prompt_seconds() const { return prompt_seconds_; }  // to the first token
    double seconds() const { return seconds_; }                // from the first token to the last

  private:
    Sequence(const Sequence&) = default;  // shares its cache: another() is the copy that goes on by itself
    friend void step(std::span<Sequence* const> sequences);

    void begin_turn();
    void append(std::span<const std::int32_t> tokens, std::size_t count);
    bool prefill_window();
    void sample_next();
    std::string text_of(std::int32_t token) const;

    std::shared_ptr<const models::InferenceModel> model_;
    const data::Tokenizer* tokenizer_;
    GenerateOptions options_;
    std::vector<std::int32_t> text_;
    std::size_t begin_ = 0;  // of the window in the text that the model sees
    models::KvCache cache_;  // of what the model has read of the window
    Sampler sampler_;
    std::vector<float> logits_;
    bool fresh_ = false;       // the logits are those after the last token
    std::size_t sampled_ = 0;  // tokens, in all turns

    std::size_t prompt_tokens_ = 0, generated_ = 0;
    double prompt_seconds_ = 0, seconds_ = 0;
    Utf8Stream characters_;  // a token may end inside a character
    StopTexts stop_;
    std::string certain_;  // and not yet taken
    std::vector<TokenLogprobs> logprobs_, prompt_logprobs_;
    std::optional<TokenLogprobs> end_logprobs_;
    FinishReason finish_reason_ = FinishReason::none;
};

// One more token for each sequence that is not finished; all are of one model. A batch costs less than its texts one
// after the other. Token number i is sampled with the random number keyed by (seed, sample, i).
void step(std::span<Sequence* const> sequences);

}  // namespace inkling::generate
