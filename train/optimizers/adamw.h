// AdamW (Loshchilov and Hutter 2019) as torch.optim.AdamW computes it, in one pass over a flat buffer. The defaults are
// torch's, but only matrices have weight decay; those of `inkling train` are in train/settings/options.h.
#pragma once

#include <functional>

#include "train/optimizers/optimizer.h"

namespace inkling::train {

// A learning rate for each role, as a multiple of the common one.
struct RoleRates {
    double embedding = 1, head = 1, matrix = 1, vector = 1;
    double of(nn::Role role) const;
};

struct AdamWOptions {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double weight_decay = 0.01;  // of matrices
    bool cautious = false;       // decay only the elements that the update brings nearer to 0 (Chen et al. 2025)
    RoleRates rates = {};        // factors of the learning rate
};

template <class T>
class AdamW : public Optimizer<T> {
  public:
    using typename Optimizer<T>::Entry;

    // Updates the elements in `own` of the parameters that `takes` accepts; both are all by default.
    AdamW(nn::FlatParameters<T>& parameters, const AdamWOptions& options,
          const std::function<bool(const Entry&)>& takes = nullptr, const Ranges* own = nullptr);

    // With lr the learning rate times the factor of the parameter's role, and t the updates that reached the parameter:
    //   p *= 1 - lr wd;  m += (g - m) (1 - b1);  v = v b2 + (1 - b2) g^2
    //   p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
    // A cautious decay takes p before the step.
    void step(double learning_rate, double gradient_scale = 1.0) override;
    OptimizerKind kind() const override { return OptimizerKind::adamw; }
    using typename Optimizer<T>::State;
    std::vector<State> state() override;

    // The two moments, in the order of the flat parameters, without those it does not update.
    Array<T> m, v;

  private:
    using typename Optimizer<T>::Part;
    using Optimizer<T>::parameters_;
    using Optimizer<T>::parts_;
    AdamWOptions options_;
};

extern template class AdamW<float>;
extern template class AdamW<double>;

}  // namespace inkling::train
