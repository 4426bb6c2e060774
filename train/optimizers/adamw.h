// AdamW (Loshchilov and Hutter 2019) as torch.optim.AdamW computes it, in one pass over a flat buffer.
#pragma once

#include <functional>

#include "train/optimizers/optimizer.h"

namespace inkling::train {

// A learning rate for each role, as a multiple of one that they share.
struct RoleRates {
    double embedding = 1, head = 1, matrix = 1, vector = 1;
    double of(nn::Role role) const;
};

struct AdamWOptions {
    double beta1 = 0.9, beta2 = 0.99, eps = 1e-8;
    double weight_decay = 0.1;  // of matrices
    RoleRates rates = {};       // what the learning rate is multiplied with
};

template <class T>
class AdamW : public Optimizer<T> {
  public:
    using typename Optimizer<T>::Entry;
    using typename Optimizer<T>::State;

    // Of all parameters, or of those that `takes` says yes to; and of these, of the elements in `own`.
    AdamW(nn::FlatParameters<T>& parameters, const AdamWOptions& options,
          const std::function<bool(const Entry&)>& takes = nullptr, const Ranges* own = nullptr);

    // With lr the learning rate times that of the parameter's role:
    //   p *= 1 - lr wd;  m += (g - m) (1 - b1);  v = v b2 + (1 - b2) g^2
    //   p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
    void step(double learning_rate, double gradient_scale = 1.0) override;
    OptimizerKind kind() const override { return OptimizerKind::adamw; }
    std::vector<State> state_of(const Entry& entry) override;
    using typename Optimizer<T>::Held;
    std::vector<Held> held() override;

    // The two moments, laid out as the flat parameters, without what is not taken.
    Array<T> m, v;

  private:
    // A range of the flat buffer, and where its moments begin.
    struct Part {
        std::size_t begin, end, state;
        double rate, weight_decay;
    };

    nn::FlatParameters<T>& parameters_;
    AdamWOptions options_;
    std::vector<Part> parts_;
};

extern template class AdamW<float>;
extern template class AdamW<double>;

}  // namespace inkling::train
