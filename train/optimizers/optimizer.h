// An optimizer turns gradients into an update of all parameters. It lists its state by parameter, so checkpoints need
// to know no optimizer by name.
//   const auto optimizer = make_optimizer(options, parameters);
//   optimizer->step(learning_rate, clip_scale(gradient_norm(parameters.gradients()), 1.0));
#pragma once

#include <memory>
#include <vector>

#include "nn/flat.h"
#include "train/optimizers/ranges.h"
#include "train/settings/options.h"

namespace inkling::train {

template <class T>
class Optimizer {
  public:
    using Entry = typename nn::FlatParameters<T>::Entry;

    // An array of state for one parameter, with as many elements: "adamw.m", "muon.momentum", ...
    struct State {
        const char* kind;
        T* values;
    };

    virtual ~Optimizer() = default;
    virtual OptimizerKind kind() const = 0;

    // One update with the gradients times `gradient_scale`, the factor of clipping.
    virtual void step(double learning_rate, double gradient_scale = 1.0) = 0;
    virtual std::vector<State> state_of(const Entry& entry) = 0;  // for a parameter that it updates whole

    // All state, each array with its range of the flat buffer.
    struct Held {
        const char* kind;
        T* values;
        Range range;
    };
    virtual std::vector<Held> held() = 0;

    std::uint64_t updates = 0;  // so far; part of the state
};

// Makes the optimizer that `options` name, for all parameters or those in `own`. The parameters must outlive it.
std::unique_ptr<Optimizer<float>> make_optimizer(const TrainOptions& options, nn::FlatParameters<float>& parameters,
                                                 const Ranges* own = nullptr);

// The cost of updating a parameter that must be whole in `own`, relative to that of one element of others; 0 for a
// parameter that may be cut.
double whole_cost(const TrainOptions& options, const nn::FlatParameters<float>::Entry& entry);

// Copies the state that both hold.
void copy_state(Optimizer<float>& from, Optimizer<float>& to);

// The L2 norm of all gradients, in double, by chunks of a fixed size.
template <class T>
double gradient_norm(const Array<T>& gradients);

// The factor that limits the norm of the gradients to `max_norm`, as torch's clip_grad_norm_:
// min(1, max_norm / (norm + 1e-6)). max_norm 0 means no limit.
double clip_scale(double norm, double max_norm);

}  // namespace inkling::train
