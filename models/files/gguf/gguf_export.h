// A model as a GGUF file that llama.cpp opens.
//   write_gguf("mine.gguf", *model, *tokenizer, GgufType::Q8_0, "mine");
#pragma once

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf/gguf_writer.h"
#include "models/transformer.h"

namespace inkling::models {

// Writes matrices as `type`, or as F16 if 32 does not divide their rows. Norms, biases and positions stay F32, as in
// llama.cpp's converter. Q4_0 keeps words in Q8_0. Q4_K is llama.cpp's mixture Q4_K_M: more bits for words, and for
// values and `down` of some layers; rows that 256 does not divide are Q5_0, Q5_1 and Q8_0. Programs show `name`. A
// nanochat, which llama.cpp lacks, is written as_qwen3 (models/families/as_qwen3.h), without its soft cap. Throws
// BadInput for a model or a tokenizer that llama.cpp does not support. Adapters are merged into what is written.
// Returns the file's type: F16 if no matrix fits its blocks.
formats::GgufType write_gguf(const std::filesystem::path& path, Transformer<float>& model,
                             const data::Tokenizer& tokenizer, formats::GgufType type, const std::string& name);

// Writes the model's low-rank adapters only, for llama.cpp's --lora FILE beside a GGUF file of the model: F32, F16 or
// BF16. Throws BadInput for a nanochat, whose weights are exported in another form.
void write_gguf_adapter(const std::filesystem::path& path, Transformer<float>& model, formats::GgufType type,
                        const std::string& name);

}  // namespace inkling::models
