// Maps a tokenizer to the keys of a GGUF file and back.
//   set_gguf_tokenizer(writer, tokenizer, architecture);
//   auto tokenizer = read_gguf_tokenizer(file);
#pragma once

#include <filesystem>
#include <memory>

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/architecture.h"

namespace inkling::models {

// `model` may have more rows than the tokenizer has tokens, and has the end tokens. Throws BadInput for a tokenizer
// that llama.cpp would apply differently.
void set_gguf_tokenizer(formats::GgufWriter& out, const data::Tokenizer& tokenizer, const Architecture& model);

// Reads byte pairs (tokenizer.ggml.model gpt2), SentencePiece (llama) or characters (rwkv), with the chat template and
// the names of special tokens. Throws BadInput, naming the file, for other tokenizers.
std::unique_ptr<data::Tokenizer> read_gguf_tokenizer(const formats::GgufFile& file);

// A warning for the user if the file at this path leaves its tokenizer unclear; "" otherwise.
std::string gguf_warning(const std::filesystem::path& path);

// The tokens that begin and end a text, by their keys and, as in llama.cpp, by their text.
void take_gguf_special_tokens(const formats::GgufFile& file, Architecture& architecture);

}  // namespace inkling::models
