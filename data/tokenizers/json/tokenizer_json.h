// Opens a tokenizer.json of the Hugging Face `tokenizers` library, characters or byte-level BPE, or a folder with one:
//   std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder);
// Reading is strict: an error names what Inkling cannot do exactly like that library; nothing is approximated.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

// A file, or a folder that holds tokenizer.json, else GPT-2's vocab.json and merges.txt (also under OpenAI's own names,
// encoder.json and vocab.bpe). Throws BadInput for a missing or broken file and for kinds that are not supported.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

// The same for text in memory; `what` is the name that errors begin with.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view tokenizer_json, const std::string& what);

}  // namespace inkling::data
