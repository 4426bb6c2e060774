// A tokenizer in the keys of a GGUF file.
//   set_gguf_tokenizer(writer, tokenizer, architecture);
//   auto tokenizer = read_gguf_tokenizer(file);
#pragma once

#include <memory>

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/architecture.h"

namespace inkling::models {

// `model`: it may have more rows than the tokenizer has tokens, and ends texts at its end_tokens. Throws BadInput for
// what llama.cpp would tokenize otherwise.
void set_gguf_tokenizer(formats::GgufWriter& out, const data::Tokenizer& tokenizer, const Architecture& model);

// Byte pairs (tokenizer.ggml.model gpt2), SentencePiece's (llama), or characters (rwkv), with the chat template and the
// names of special tokens. Throws BadInput, naming the file, for other tokenizers.
std::unique_ptr<data::Tokenizer> read_gguf_tokenizer(const formats::GgufFile& file);

// The tokens that begin and end a text.
void take_gguf_special_tokens(const formats::GgufFile& file, Architecture& architecture);

}  // namespace inkling::models
