// A nanochat model as a Qwen 3 with other weights, which computes the same: for programs that have no nanochat.
//   save_model(folder, *as_qwen3(model), tokenizer);
#pragma once

#include <memory>

#include "models/transformer.h"

namespace inkling::models {

// Logits differ by rounding, but for the soft cap, which Qwen 3 has no place for. Throws BadInput for another family.
std::unique_ptr<Transformer<float>> as_qwen3(const Transformer<float>& model);

}  // namespace inkling::models
