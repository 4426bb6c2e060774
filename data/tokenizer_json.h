// Opens a tokenizer.json of the Hugging Face `tokenizers` library:
//   std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder / "tokenizer.json");
// Read strictly: what Inkling can not do exactly as that library does is refused by name, never approximated.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "data/tokenizer.h"

namespace inkling::data {

// Throws BadInput for a missing or broken file and for kinds of tokenizer that are not supported.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& tokenizer_json);

// The same for text in memory; `what` is the name that errors begin with.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view tokenizer_json, const std::string& what);

}  // namespace inkling::data
