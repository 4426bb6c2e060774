// A text that inkling generate writes: tokens in, whole characters out, up to a stop text.
#pragma once

#include <nlohmann/json.hpp>

#include "data/tokenizers/tokenizer.h"
#include "engine/clock.h"
#include "generate/generate.h"
#include "generate/stop_texts.h"
#include "generate/utf8_stream.h"

namespace inkling::cli {

class WrittenText {
  public:
    WrittenText(models::Generator generator, const data::Tokenizer& tokenizer, const std::vector<std::string>& stops,
                std::size_t logprobs = 0, double start = seconds_now());  // start: of reading the prompt

    // One more token for each of them that is not done, as a batch.
    static void advance(std::vector<WrittenText>& texts);

    void end(const char* reason);  // "interrupted"
    bool done() const { return !reason_.empty(); }
    models::Generator release() { return std::move(generator_); }  // for more of the same text
    std::string take();                                            // the text since the last call
    // The keys of generate --json.
    nlohmann::ordered_json json(std::size_t prompt_tokens, std::uint64_t seed) const;

  private:
    void update();  // with the token that the generator just made
    void note_probabilities(std::int32_t token);

    models::Generator generator_;
    const data::Tokenizer* tokenizer_;
    data::Utf8Stream characters_;  // a token may end inside a character
    data::StopTexts stops_;
    std::size_t logprobs_, before_;        // tokens that the generator had made before
    double start_, first_ = 0, last_ = 0;  // moments: begin, first token, last one
    std::string text_, fresh_, reason_;
    nlohmann::ordered_json probabilities_ = nlohmann::ordered_json::array();
};

}  // namespace inkling::cli
