// Stochastic gradient descent with momentum, as torch.optim.SGD computes it: weight decay is part of the gradient.
#pragma once

#include "train/optimizers/optimizer.h"

namespace inkling::train {

struct SGDOptions {
    double momentum = 0.95;
    bool nesterov = true;       // step along the gradient and the momentum that it leads to (Sutskever et al. 2013)
    double weight_decay = 0.1;  // of matrices
};

template <class T>
class SGD : public Optimizer<T> {
  public:
    using typename Optimizer<T>::Entry;
    using typename Optimizer<T>::State;

    SGD(nn::FlatParameters<T>& parameters, const SGDOptions& options);

    //   g += wd p;  b = mu b + g;  p -= lr (g + mu b)  with Nesterov, else  p -= lr b
    void step(double learning_rate, double gradient_scale = 1.0) override;
    OptimizerKind kind() const override { return OptimizerKind::sgd; }
    std::vector<State> state_of(const Entry& entry) override {
        return {{"sgd.momentum", momentum.data() + entry.offset}};
    }

    Array<T> momentum;  // laid out as the flat parameters

  private:
    nn::FlatParameters<T>& parameters_;
    SGDOptions options_;
};

extern template class SGD<float>;
extern template class SGD<double>;

}  // namespace inkling::train
