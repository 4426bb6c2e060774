// A model as a GGUF file that llama.cpp opens.
//   write_gguf("mine.gguf", *model, *tokenizer, GgufType::Q8_0, "mine");
#pragma once

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf/gguf_writer.h"
#include "models/transformer.h"

namespace inkling::models {

// Matrices as `type`, but for positions; those whose rows Q8_0 cannot cut into blocks, as F16. Norms, biases and
// positions stay F32, as llama.cpp's own converter leaves them. `name` is what programs show.
// A nanochat, which llama.cpp does not have, is written as_qwen3 (models/families/as_qwen3.h): without its soft cap.
// Throws BadInput for what llama.cpp does not compute, and for a tokenizer that it does not know. Returns the type that
// the file says it has: F16 where no matrix could be Q8_0.
formats::GgufType write_gguf(const std::filesystem::path& path, Transformer<float>& model,
                             const data::Tokenizer& tokenizer, formats::GgufType type, const std::string& name);

// The model's low-rank adapters alone, as llama.cpp takes them beside a GGUF file of the model (--lora FILE): F32, F16
// or BF16. Throws BadInput for a nanochat, whose weights llama.cpp has in another form.
void write_gguf_adapter(const std::filesystem::path& path, Transformer<float>& model, formats::GgufType type,
                        const std::string& name);

}  // namespace inkling::models
