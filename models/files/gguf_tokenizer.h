// A tokenizer in the keys of a GGUF file.
#pragma once

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf.h"
#include "models/architecture.h"

namespace inkling::models {

// `model`: it may have more rows than the tokenizer has tokens, and ends texts at its end_tokens. Throws BadInput for
// what llama.cpp would tokenize otherwise.
void set_gguf_tokenizer(formats::GgufWriter& out, const data::Tokenizer& tokenizer, const Architecture& model);

}  // namespace inkling::models
