// Muon (Jordan et al. 2024): orthogonalised momentum, for matrices that map activations to activations. AdamW updates
// embeddings, heads and vectors, at their own learning rates.
#pragma once

#include "train/optimizers/adamw.h"

namespace inkling::train {

struct MuonOptions {
    double momentum = 0.95;
    bool nesterov = true;
    std::size_t ns_steps = 5;
    NewtonSchulz coefficients = NewtonSchulz::original;
    MuonScale scale = MuonScale::original;
    bool split_heads = false;  // orthogonalise each head of query, key and value separately
    double weight_decay = 0.1;
    bool cautious = false;    // see AdamWOptions
    AdamWOptions adamw = {};  // for all others; its rates are AdamW's divided by Muon's
};

// Whether Muon updates this parameter; AdamW updates all others.
template <class Entry>
bool is_matrix_of_muon(const Entry& entry) {
    return entry.kind.role == nn::Role::matrix && entry.parameter.rank() == 2;
}

template <class T>
class Muon : public Optimizer<T> {
  public:
    using typename Optimizer<T>::Entry;

    // Updates all parameters, or those in `own`, which must hold whole matrices. The result for one matrix does not
    // depend on the others in `own`.
    Muon(nn::FlatParameters<T>& parameters, const MuonOptions& options, const Ranges* own = nullptr);

    //   m += (g - m) (1 - mu);  u = (1 - mu) g + mu m  with Nesterov, else m
    //   p *= 1 - lr wd;  p -= lr scale newton_schulz(u), with rows of equal length for MuonScale::rows
    // A cautious decay takes p before the step.
    void step(double learning_rate, double gradient_scale = 1.0) override;
    OptimizerKind kind() const override { return OptimizerKind::muon; }
    using typename Optimizer<T>::State;
    std::vector<State> state() override;

  private:
    // All matrices of one shape, for few large products instead of many small ones.
    struct Group {
        Shape shape;                       // (n, rows, columns): all blocks of all its parameters
        std::vector<std::size_t> entries;  // the numbers of its parameters
        Array<T> momentum;                 // same shape, in the order of the parameters
    };

    // Calls body(offset in the flat buffer, offset in the group, elements) for a group's parameters that have a
    // gradient, in parallel.
    template <class Body>
    void over(const Group& group, const Body& body) const;

    using Optimizer<T>::parameters_;
    MuonOptions options_;
    std::vector<Group> groups_;
    AdamW<T> others_;
};

extern template class Muon<float>;
extern template class Muon<double>;

}  // namespace inkling::train
