// Stochastic gradient descent with momentum, as torch.optim.SGD computes it: weight decay is part of the gradient. The
// defaults are torch's, but only matrices have weight decay; those of `inkling train` are in
// train/settings/options.h.
#pragma once

#include "train/optimizers/optimizer.h"

namespace inkling::train {

struct SGDOptions {
    double momentum = 0;
    bool nesterov = false;    // steps along the gradient plus the updated momentum (Sutskever et al. 2013)
    double weight_decay = 0;  // of matrices
};

template <class T>
class SGD : public Optimizer<T> {
  public:
    SGD(nn::FlatParameters<T>& parameters, const SGDOptions& options,
        const Ranges* own = nullptr);  // updates all elements, or those in `own`

    //   g += wd p;  b = mu b + g;  p -= lr (g + mu b)  with Nesterov, else  p -= lr b
    void step(double learning_rate, double gradient_scale = 1.0) override;
    OptimizerKind kind() const override { return OptimizerKind::sgd; }
    using typename Optimizer<T>::State;
    std::vector<State> state() override;

    Array<T> momentum;  // in the order of the flat parameters, without those it does not update

  private:
    using typename Optimizer<T>::Part;
    using Optimizer<T>::parameters_;
    using Optimizer<T>::parts_;
    SGDOptions options_;
};

extern template class SGD<float>;
extern template class SGD<double>;

}  // namespace inkling::train
