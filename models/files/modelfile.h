// Ollama's Modelfile, for `ollama create NAME -f Modelfile`: which files make up a model, and its chat template.
//   write_file_atomic("Modelfile", modelfile("./model.gguf", "", tokenizer));
// Source: https://github.com/ollama/ollama/blob/main/docs/modelfile.mdx and template.mdx
#pragma once

#include <string>

#include "data/tokenizers/tokenizer.h"

namespace inkling::models {

// `from`: a GGUF file or a model folder; `adapter`: of gguf-lora, or "". Paths are relative to the Modelfile's folder,
// or absolute. Throws BadInput for a chat template that Go's templates over a list of messages cannot do.
std::string modelfile(const std::string& from, const std::string& adapter, const data::Tokenizer& tokenizer);

}  // namespace inkling::models
