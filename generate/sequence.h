// Text from a model, token by token, alone or in a batch:
//   Sequence text(model, tokenizer.get(), options);
//   text.add("The ");
//   while (!text.finished()) std::cout << text.next();
// A batch is any set of sequences of one model; between two steps, some may join and others leave.
//   step(sequences);                                                          // one more token for each
//   for (Sequence* w : sequences) send(w->take(), w->finish_reason());
// A text has the same bits alone and in a batch, and with any number of threads.
#pragma once

#include <exception>
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
    // When the context is full, drops this many of its oldest tokens and processes the rest again; 0: half the context.
    // 1 lets each token see a full context, which is processed again for each.
    std::size_t context_shift = 0;
    bool special_tokens = false;         // spelled in a prompt, such as <|endoftext|>, they are tokens; else text
    std::vector<std::string> stop = {};  // the text ends before the first of these
    std::optional<std::size_t> logprobs = std::nullopt;  // returns those of each token and of this many alternatives
    bool prompt_logprobs = false;                        // also of the prompt's tokens, which must fit into the context
    std::vector<std::int32_t> end_tokens = {};           // more ends of a text: a chat model's end of turn

    void validate() const;  // throws, naming the flag to change
};

// A prompt is processed in pieces of this many tokens, so that a server can write other texts meanwhile. All commands
// use the same number, because the last bits of the logits depend on it.
constexpr std::size_t kPromptPiece = 512;

enum class FinishReason { none, length, stop, end_of_text, interrupted };
const char* name(FinishReason reason);  // "length"

class Sequence {
  public:
    // The tokenizer must outlive the sequence; without one there are only tokens, no text. Ids outside of it are never
    // sampled; its end of text, if any, ends the text and is not part of it.
    Sequence(std::shared_ptr<const models::InferenceModel> model, const data::Tokenizer* tokenizer,
             GenerateOptions options = {});
    Sequence(const models::Transformer<float>& model, const data::Tokenizer* tokenizer, GenerateOptions options = {});
    Sequence(Sequence&&) = default;
    Sequence& operator=(Sequence&&) = default;

    // Appends to the text, which must have a token before the first step. The model sees the last tokens that fit into
    // its context. After generation has begun or finished, this starts a new turn of up to max_tokens.
    void add(std::span<const std::int32_t> tokens);

    // The same for text, which may be far longer than the context; each earlier token is kept once, for the repeat
    // penalty. The first text follows the tokenizer's tokens_before. An empty text continues the present one. At the
    // start, and after an end of text, an empty text adds what begins a text: tokens_before, else the end of text, if
    // the model was trained so, else a line end, else the first token. Throws BadInput where the tokenizer does.
    void add(std::string_view text);

    void limit(std::size_t max_tokens);  // changes the option, before the first token
    void prefill();                      // processes the prompt now, so that fork() need not
    bool prefill_piece();                // processes its next kPromptPiece tokens; false: no token is left
    // Whether the context is full: prefill_piece() must then process a part of it again before the next token.
    bool reads_again() const { return !has_logits_ && tokens_.size() - begin_ > model_->config().block_size; }
    Sequence fork(std::uint64_t sample) const&;  // a copy that continues as `sample` of the seed
    // The same, with this text's own cache: this text can be asked, but not continued.
    Sequence fork(std::uint64_t sample) &&;

    std::string next();   // step(), then take(); throws as step()
    std::string write();  // next(), until it is finished
    std::string take();   // the text since the last call: whole characters that cannot begin a stop text
    void finish(FinishReason reason = FinishReason::interrupted);

    const std::shared_ptr<const models::InferenceModel>& model() const { return model_; }
    bool finished() const { return finish_reason_ != FinishReason::none; }
    FinishReason finish_reason() const { return finish_reason_; }
    std::span<const std::int32_t> tokens() const { return tokens_; }  // all: added and generated

    // Written in this turn.
    std::span<const std::int32_t> generated() const { return tokens().last(generated_); }
    const std::vector<TokenLogprobs>& logprobs() const { return logprobs_; }            // of generated(), if asked for
    const std::optional<TokenLogprobs>& end_logprobs() const { return end_logprobs_; }  // of the end of text, likewise
    // One for each added token except the first, if asked for, after prefill.
    const std::vector<TokenLogprobs>& prompt_logprobs() const { return prompt_logprobs_; }
    std::size_t prompt_tokens() const { return prompt_tokens_; }
    double prompt_seconds() const { return prompt_seconds_; }  // to the first token
    double seconds() const { return seconds_; }                // from the first token to the last

  private:
    Sequence(const Sequence&) = default;  // for fork()
    friend void step(std::span<Sequence* const> sequences);

    void begin_turn();
    void append(std::span<const std::int32_t> tokens, std::size_t count);
    bool read_piece();
    void sample_next();
    std::string decode_token(std::int32_t token) const;

    std::shared_ptr<const models::InferenceModel> model_;
    const data::Tokenizer* tokenizer_;
    GenerateOptions options_;
    std::vector<std::int32_t> tokens_;
    std::size_t begin_ = 0;  // of the window that the model sees
    models::KvCache cache_;  // of the processed tokens of the window
    Sampler sampler_;
    std::vector<float> logits_;
    bool has_logits_ = false;  // the logits are those after the last token
    std::size_t sampled_ = 0;  // tokens, in all turns

    std::size_t prompt_tokens_ = 0, generated_ = 0;
    double prompt_seconds_ = 0, seconds_ = 0;
    Utf8Stream characters_;  // a token may end inside a character
    StopTexts stop_;
    std::string pending_text_;  // not yet taken
    std::vector<TokenLogprobs> logprobs_, prompt_logprobs_;
    std::optional<TokenLogprobs> end_logprobs_;
    FinishReason finish_reason_ = FinishReason::none;
    std::exception_ptr failed_;  // while a token was added, which may be half there
};

// Adds one token to each unfinished sequence; all are of one model. A batch costs less than its texts one by one. Token
// number i is sampled with the random number keyed by (seed, sample, i). After an exception some sequences have their
// token, and all can go on, except one that failed while its token was added: it throws the same exception again.
void step(std::span<Sequence* const> sequences);

}  // namespace inkling::generate
