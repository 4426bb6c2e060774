// Optimizer: what turns gradients into an update of all parameters. Its state is listed by parameter, so that
// checkpoints know no optimizer by name.
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

    // An array of state that belongs to one parameter and has as many elements: "adamw.m", "muon.momentum", ...
    struct State {
        const char* kind;
        T* values;
    };

    virtual ~Optimizer() = default;
    virtual OptimizerKind kind() const = 0;

    // One update with the gradients times `gradient_scale` (which clipping asks for).
    virtual void step(double learning_rate, double gradient_scale = 1.0) = 0;
    virtual std::vector<State> state_of(const Entry& entry) = 0;  // of one that is wholly its own

    // All state, each array with the range of the flat buffer that it is for.
    struct Held {
        const char* kind;
        T* values;
        Range range;
    };
    virtual std::vector<Held> held() = 0;

    std::uint64_t updates = 0;  // made so far; part of the state
};

// The optimizer that `options` name, for parameters that outlive it: of all, or of those in `own`.
std::unique_ptr<Optimizer<float>> make_optimizer(const TrainOptions& options, nn::FlatParameters<float>& parameters,
                                                 const Ranges* own = nullptr);

// What the update of a parameter costs that must be whole in `own`, against an element that need not be; 0: it may be
// cut.
double whole_cost(const TrainOptions& options, const nn::FlatParameters<float>::Entry& entry);

// What both hold: the state of `from` becomes that of `to`.
void copy_state(Optimizer<float>& from, Optimizer<float>& to);

// The L2 norm of all gradients, in double, by chunks of a fixed size.
template <class T>
double gradient_norm(const Array<T>& gradients);

// What gradients are multiplied with so that their norm is at most `max_norm`, as torch's clip_grad_norm_:
// min(1, max_norm / (norm + 1e-6)); max_norm 0: no limit.
double clip_scale(double norm, double max_norm);

}  // namespace inkling::train
