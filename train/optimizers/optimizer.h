// An optimizer turns gradients into an update of all parameters. It lists its state, so checkpoints need to know no
// optimizer by name.
//   const auto optimizer = make_optimizer(options, parameters);
//   optimizer->step(learning_rate, clip_scale(gradient_norm(parameters.gradients()), 1.0));
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "nn/flat.h"
#include "train/settings/options.h"

namespace inkling::train {

// Ranges of the flat buffer of parameters, such as those that one of several processes updates.

struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};
using Ranges = std::vector<Range>;  // in order, without overlap

template <class T>
class Optimizer {
  public:
    using Entry = typename nn::FlatParameters<T>::Entry;

    // An array of state, and the range of the flat buffer that it belongs to.
    struct State {
        const char* kind;  // "adamw.m", "muon.momentum", ...
        T* values;
        Range range;
    };

    explicit Optimizer(nn::FlatParameters<T>& parameters)
        : missed(parameters.entries().size()), parameters_(parameters) {}
    virtual ~Optimizer() = default;
    virtual OptimizerKind kind() const = 0;

    // One update with the gradients times `gradient_scale`, the factor of clipping. As in PyTorch, it leaves a
    // parameter that backward did not reach since zero_gradients() as it is, and so its state.
    virtual void step(double learning_rate, double gradient_scale = 1.0) = 0;

    virtual std::vector<State> state() = 0;

    // The state of a parameter that it updates whole.
    std::vector<State> state_of(const Entry& entry) {
        const Range own{entry.offset, entry.offset + entry.parameter.size()};
        std::vector<State> found;
        for (const auto& [kind, values, range] : state())
            if (range.begin <= own.begin && own.begin < range.end)
                found.push_back({kind, values + (own.begin - range.begin), own});
        return found;
    }

    std::uint64_t updates = 0;          // so far; part of the state
    std::vector<std::uint64_t> missed;  // by entry: updates that did not reach it; all 0 for a whole model in training

  protected:
    void count_update(double learning_rate) {
        check(learning_rate >= 0, "optimizer: the learning rate must be at least 0, got {}", learning_rate);
        ++updates;
        for (std::size_t i = 0; i < missed.size(); ++i) missed[i] += !parameters_.is_reached(i);
    }

    // Calls body(begin, end, updates) for the stretches of a range whose parameters have a gradient, with the number of
    // their updates: once if all parameters always had one.
    template <class Body>
    void over_reached(const Range& range, const Body& body) const {
        const auto& entries = parameters_.entries();
        std::size_t begin = range.begin;
        for (std::size_t i = 0; i < entries.size() && begin < range.end; ++i) {
            const bool last = i + 1 == entries.size();
            const std::size_t end = std::min(range.end, last ? range.end : entries[i + 1].offset);
            if (end <= begin) continue;
            if (end < range.end && missed[i] == missed[i + 1] &&
                parameters_.is_reached(i) == parameters_.is_reached(i + 1))
                continue;
            if (parameters_.is_reached(i)) body(begin, end, updates - missed[i]);
            begin = end;
        }
    }

    nn::FlatParameters<T>& parameters_;
};

// Throws unless 0 <= value < end.
inline void check_option(const char* name, double value, double end = std::numeric_limits<double>::infinity()) {
    check(value >= 0 && value < end, "{} must be at least 0 and less than {}, got {}", name, end, value);
}

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
