// An optimizer turns gradients into an update of all parameters. It lists its state, so checkpoints need to know no
// optimizer by name.
//   const auto optimizer = make_optimizer(options, parameters);
//   optimizer->step(learning_rate, clip_scale(gradient_norm(parameters.gradients()), 1.0));
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
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

    // The state of a parameter that is updated as a whole.
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
    // A range of the flat buffer that an elementwise optimizer updates alike, and where its state begins.
    struct Part {
        Range range;
        std::size_t state;
        double rate, weight_decay;  // the factor of the learning rate
    };

    // Fills parts_ with the elements in `own`, or all, of the parameters that rate(entry), a double or nothing, takes.
    // Only matrices have weight decay. Returns the number of elements.
    template <class Rate>
    std::size_t take_parts(const Ranges* own, double weight_decay, const Rate& rate) {
        std::size_t held = 0;
        const auto& entries = parameters_.entries();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const std::optional<double> factor = rate(entries[i]);
            if (!factor) continue;
            const Range whole = range_of(i);
            const double decay = whole.begin < parameters_.matrix_elements() ? weight_decay : 0.0;
            for (const Range& range : own ? *own : Ranges{whole}) {
                const std::size_t from = std::max(whole.begin, range.begin), to = std::min(whole.end, range.end);
                if (from >= to) continue;
                Part* const last = parts_.empty() ? nullptr : &parts_.back();
                if (last && last->range.end == from && last->rate == *factor && last->weight_decay == decay)
                    last->range.end = to;
                else
                    parts_.push_back({{from, to}, held, *factor, decay});
                held += to - from;
            }
        }
        return held;
    }

    void count_update(double learning_rate) {
        check(learning_rate >= 0, "optimizer: the learning rate must be at least 0, got {}", learning_rate);
        ++updates;
        for (std::size_t i = 0; i < missed.size(); ++i) missed[i] += !parameters_.is_reached(i);
    }

    // Calls body(part, begin, length, updates) for the stretches of each part whose parameters have a gradient, with
    // the number of their updates: once if all parameters always had one.
    template <class Body>
    void over_reached(const Body& body) const {
        for (const Part& part : parts_) {
            std::size_t begin = part.range.begin;
            for (std::size_t i = 0; i < missed.size() && begin < part.range.end; ++i) {
                const std::size_t end = std::min(part.range.end, range_of(i).end);
                if (end <= begin) continue;
                if (end < part.range.end && missed[i] == missed[i + 1] &&
                    parameters_.is_reached(i) == parameters_.is_reached(i + 1))
                    continue;
                if (parameters_.is_reached(i)) body(part, begin, end - begin, updates - missed[i]);
                begin = end;
            }
        }
    }

    nn::FlatParameters<T>& parameters_;
    std::vector<Part> parts_ = {};

  private:
    Range range_of(std::size_t entry) const {  // up to the next parameter
        const auto& entries = parameters_.entries();
        const bool last = entry + 1 == entries.size();
        return {entries[entry].offset, last ? parameters_.values().size() : entries[entry + 1].offset};
    }
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
