// Writes Ollama's Modelfile, for `ollama create NAME -f Modelfile`: a model's files and its chat template.
//   write_file_atomic("Modelfile", modelfile("./model.gguf", "", tokenizer));
// Source: https://github.com/ollama/ollama/blob/main/docs/modelfile.mdx and template.mdx
#pragma once

#include <string>

#include "data/tokenizers/tokenizer.h"

namespace inkling::models {

// `from`: a GGUF file or a model folder; `adapter`: of gguf-lora, or "". Paths are relative to the Modelfile's folder,
// or absolute. Throws BadInput for a chat template that Go's templates cannot express.
std::string modelfile(const std::string& from, const std::string& adapter, const data::Tokenizer& tokenizer);

}  // namespace inkling::models
