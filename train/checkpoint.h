// What a run needs to go on as if it had never stopped, in training_state.safetensors beside the model.
#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "data/tokenizer.h"
#include "models/language_model.h"
#include "train/adamw.h"

namespace inkling::train {

struct TrainingState {
    std::size_t step = 0;  // updates tried so far; windows and dropout masks follow from it and the seed
    double best_val_loss = std::numeric_limits<double>::infinity();
    double train_s = 0, elapsed_s = 0;
    std::string data_fingerprint;  // of the tokens that it is trained on
    std::string config;            // the resolved config.toml
};

// Fills an existing folder. Throws Error rather than write weights that are not finite.
void save_checkpoint(const std::filesystem::path& folder, models::LanguageModel<float>& model,
                     const data::Tokenizer& tokenizer, const nn::FlatParameters<float>& parameters,
                     const AdamW<float>& optimizer, const TrainingState& state);

// Reads training_state.safetensors into the optimizer. Throws BadInput when it does not fit the parameters, which hold
// the weights of the model beside it, or when a bit of either file is not as it was written.
TrainingState load_state(const std::filesystem::path& folder, const nn::FlatParameters<float>& parameters,
                         AdamW<float>& optimizer);

// The config.toml of the run that wrote it. Throws BadInput.
std::string stored_config(const std::filesystem::path& folder);

// A number that two texts of tokens share only by being equal (or by an accident of 1 in 2^64), with their count.
std::string fingerprint(std::span<const std::int32_t> tokens);

}  // namespace inkling::train
