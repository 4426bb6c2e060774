// The ids of a prompt: its text, or what a text begins with where there is none.
#pragma once

#include <string_view>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "models/architecture.h"

namespace inkling::generate {

struct Prompt {
    std::vector<std::int32_t> ids;  // the last `context` tokens, and before them once each of those that came earlier
    std::size_t tokens = 0;         // all of them
};

// A prompt may be far longer than what the model sees, and need not be in memory as tokens. `begins`: after the
// tokenizer's marks_before; `special`: spelled special tokens are tokens, else text.
Prompt encode_prompt(const data::Tokenizer& tokenizer, std::size_t context, std::string_view text, bool begins,
                     bool special);

// What a text begins with: marks_before, else the end of another text, if the model was trained so, else a line end,
// else the first token.
std::vector<std::int32_t> beginning(const data::Tokenizer& tokenizer, const models::Architecture& config);

}  // namespace inkling::generate
