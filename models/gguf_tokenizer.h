// A tokenizer in the keys of a GGUF file.
#pragma once

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf.h"

namespace inkling::models {

// `vocab_size`: the model's, which may have more rows than the tokenizer has tokens. Throws BadInput for what llama.cpp
// would tokenize otherwise.
void set_gguf_tokenizer(formats::GgufWriter& out, const data::Tokenizer& tokenizer, std::size_t vocab_size);

}  // namespace inkling::models
