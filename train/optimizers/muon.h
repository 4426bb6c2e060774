// Muon (Jordan et al. 2024): momentum whose direction is made orthogonal, for the matrices from activations to
// activations. Embeddings, heads and vectors go by AdamW, at learning rates of their own.
#pragma once

#include "train/optimizers/adamw.h"

namespace inkling::train {

struct MuonOptions {
    double momentum = 0.95;
    bool nesterov = true;
    std::size_t ns_steps = 5;
    MuonScale scale = MuonScale::original;
    bool split_heads = false;  // each head of query, key and value is made orthogonal for itself
    double weight_decay = 0.1;
    AdamWOptions adamw = {};  // of all else; its rates are those of AdamW over Muon's
};

// Whether it is one of those matrices; all else goes by AdamW.
template <class Entry>
bool is_matrix_of_muon(const Entry& entry) {
    return entry.kind.role == nn::Role::matrix && entry.parameter.rank() == 2;
}

template <class T>
class Muon : public Optimizer<T> {
  public:
    using typename Optimizer<T>::Entry;
    using typename Optimizer<T>::State;

    // Of all parameters, or of those in `own`, of which it must hold whole matrices. What it computes of one does not
    // depend on the others that are in `own`.
    Muon(nn::FlatParameters<T>& parameters, const MuonOptions& options, const Ranges* own = nullptr);

    //   m += (g - m) (1 - mu);  u = (1 - mu) g + mu m  with Nesterov, else m
    //   p *= 1 - lr wd;  p -= lr scale newton_schulz(u), whose rows get one length with MuonScale::rows
    void step(double learning_rate, double gradient_scale = 1.0) override;
    OptimizerKind kind() const override { return OptimizerKind::muon; }
    std::vector<State> state_of(const Entry& entry) override;
    using typename Optimizer<T>::Held;
    std::vector<Held> held() override;

  private:
    // All matrices of one shape: few large products instead of many small ones.
    struct Group {
        Shape shape;                       // (n, rows, columns), of all blocks of all its parameters
        std::vector<std::size_t> offsets;  // of its parameters in the flat buffer
        std::vector<std::size_t> sizes;
        Array<T> momentum;  // of that shape, parameter after parameter
    };

    // body(where in the flat buffer, where in the group, how many elements) over a group's parameters, in parallel.
    template <class Body>
    static void over(const Group& group, const Body& body);

    nn::FlatParameters<T>& parameters_;
    MuonOptions options_;
    std::vector<Group> groups_;
    AdamW<T> others_;
};

extern template class Muon<float>;
extern template class Muon<double>;

}  // namespace inkling::train
