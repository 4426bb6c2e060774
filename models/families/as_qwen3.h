// Converts a nanochat to a Qwen 3 that computes the same, for programs without nanochat.
//   save_model(folder, *as_qwen3(model), tokenizer);
#pragma once

#include <memory>

#include "models/transformer.h"

namespace inkling::models {

// Logits differ by rounding only, except for the soft cap, which Qwen 3 lacks. Shares the
// model's parameters, which save_model, write_gguf and read_all() convert. Throws BadInput for another family.
std::unique_ptr<Transformer<float>> as_qwen3(const Transformer<float>& model);

}  // namespace inkling::models
