// POST /tokenize and /detokenize, as in llama.cpp's server: {"content": ...} <-> {"tokens": [...]}.
#pragma once

#include "data/tokenizers/tokenizer.h"
#include "web/api/request_parts.h"

namespace inkling::web {

nlohmann::ordered_json tokenize(const Fields& request, const data::Tokenizer& tokenizer);
nlohmann::ordered_json detokenize(const Fields& request, const data::Tokenizer& tokenizer);

}  // namespace inkling::web
