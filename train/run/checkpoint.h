// What a run needs to go on as if it had never stopped, in training_state.safetensors beside the model.
#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"
#include "train/optimizers/optimizer.h"
#include "train/spikes.h"
#include "train/weight_average.h"

namespace inkling::train {

struct TrainingState {
    std::size_t step = 0;  // updates tried so far; windows and dropout masks follow from it and the seed
    double best_val_loss = std::numeric_limits<double>::infinity();
    std::size_t best_step = 0;  // that it is of; 0: none, or written by an older version
    double val_loss = std::numeric_limits<double>::infinity();  // of this step; infinity: it was not evaluated
    double train_s = 0, elapsed_s = 0;
    Spikes spikes = {};                 // what the next steps are compared with
    std::string data_fingerprint;       // of the dataset that it is trained on
    std::string base_fingerprint = "";  // of the model whose adapters are trained; "": the model itself is
    std::string config;                 // the resolved config.toml
};

// Fills an existing folder. Throws Error rather than write weights that are not finite. With an average of the weights,
// the parameters must hold it (Averaged): it is the model that is saved, and the weights go with the training state.
void save_checkpoint(const std::filesystem::path& folder, models::Transformer<float>& model,
                     const data::Tokenizer& tokenizer, const nn::FlatParameters<float>& parameters,
                     Optimizer<float>& optimizer, const WeightAverage& average, const TrainingState& state);

// Reads training_state.safetensors into the optimizer and the average, and the weights into the parameters, which hold
// the model beside it. Throws BadInput when it does not fit the parameters or is of another optimizer, or when a bit of
// either file is not as it was written.
TrainingState load_state(const std::filesystem::path& folder, nn::FlatParameters<float>& parameters,
                         Optimizer<float>& optimizer, WeightAverage& average);

// The config.toml of the run that wrote it. Throws BadInput.
std::string stored_config(const std::filesystem::path& folder);

// The validation loss of a checkpoint's own step, from the header alone; infinity when it was not evaluated. In one of
// a version that kept only the best until then, that. Throws BadInput.
double stored_val_loss(const std::filesystem::path& folder);

// The SHA-256 of a checkpoint's model.safetensors, or of its adapter_model.safetensors, in hexadecimal, as `sha256sum`
// prints it: the same for the same run wherever it was trained with the same instructions.
std::string weights_sha256(const std::filesystem::path& checkpoint);

// A hash of the frozen weights of a model with adapters; "" for others. A checkpoint of adapters does not hold them.
std::string base_fingerprint(models::Transformer<float>& model);

}  // namespace inkling::train
