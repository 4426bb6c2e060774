// The state that lets a run continue as if it had never stopped, in training_state.safetensors beside the model.
#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"
#include "train/optimizers/optimizer.h"
#include "train/step/spikes.h"
#include "train/step/weight_average.h"

namespace inkling::train {

inline constexpr const char* kStateFile = "training_state.safetensors";

struct TrainingState {
    std::size_t step = 0;  // updates tried so far; with the seed, it determines windows and dropout masks
    double best_val_loss = std::numeric_limits<double>::infinity();
    std::size_t best_step = 0;  // the step of the best evaluation; 0 before the first, and in files of older versions
    double val_loss = std::numeric_limits<double>::infinity();  // of this step; infinity if it was not evaluated
    double train_s = 0, elapsed_s = 0;
    Spikes spikes = {};                    // the steps that the next ones are compared with
    std::string data_fingerprint;          // of the training set
    std::string base_fingerprint = "";     // of the adapters' base model; "" if the model itself is trained
    std::string teacher_fingerprint = "";  // of the models of --teacher
    std::string config;                    // the resolved config.toml
};

// Of a checkpoint that was just written: weights_sha256() and state_sha256().
struct SavedHashes {
    std::string weights = "", state = "";
};

// Writes a checkpoint into an existing folder. Throws Error for weights that are not finite. With an average of the
// weights, the parameters must hold it (Averaged): the saved model is the average, and the weights are in the training
// state.
SavedHashes save_checkpoint(const std::filesystem::path& folder, models::Transformer<float>& model,
                            const data::Tokenizer& tokenizer, const nn::FlatParameters<float>& parameters,
                            Optimizer<float>& optimizer, const WeightAverage& average, const TrainingState& state);

// Reads training_state.safetensors into the optimizer and the average, and the weights into the parameters, which hold
// the model beside it. Throws BadInput if the state does not fit the parameters or belongs to another optimizer, or if
// a bit of either file has changed.
TrainingState load_state(const std::filesystem::path& folder, nn::FlatParameters<float>& parameters,
                         Optimizer<float>& optimizer, WeightAverage& average);

// The state of a checkpoint without its arrays, from the header alone. Older versions kept only the best validation
// loss so far; then val_loss is that one. Throws BadInput.
TrainingState stored_state(const std::filesystem::path& folder);

// What training_state.safetensors says of the training alone, not of clocks, paths and evaluations: its tensors, and
// these keys of its metadata.
inline constexpr const char* kTrained[] = {
    "step", "optimizer", "updates", "spikes", "data_fingerprint", "base_fingerprint", "teacher_fingerprint"};
std::string state_sha256(const std::filesystem::path& file);  // of that, in hexadecimal

std::string file_sha256(const std::filesystem::path& file);  // as `sha256sum` prints it

// The SHA-256 of a checkpoint's model.safetensors, or of its adapter_model.safetensors, as `sha256sum` prints it.
std::string weights_sha256(const std::filesystem::path& checkpoint);

// A hash of a model's weights, without adapters.
std::string weights_fingerprint(models::Transformer<float>& model);
// The same of a model with adapters, whose frozen weights a checkpoint does not hold; "" for other models.
std::string base_fingerprint(models::Transformer<float>& model);

}  // namespace inkling::train
