// The token ids of a prompt, or, for an empty prompt, of the beginning of a text.
#pragma once

#include <string_view>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "models/architecture.h"

namespace inkling::generate {

struct Prompt {
    std::vector<std::int32_t> ids;  // the last `context` tokens, and before them each earlier token once
    std::size_t tokens = 0;         // of the whole prompt
};

// A prompt may be far longer than the context, and need not be in memory as tokens. `begins`: after the
// tokenizer's tokens_before; `special`: spelled special tokens are tokens, else text.
Prompt encode_prompt(const data::Tokenizer& tokenizer, std::size_t context, std::string_view text, bool begins,
                     bool special);

// The tokens that begin a text: tokens_before, else the end of another text, if the model was trained so, else a line
// end, else the first token.
std::vector<std::int32_t> beginning(const data::Tokenizer& tokenizer, const models::Architecture& config);

}  // namespace inkling::generate
