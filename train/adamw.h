// AdamW (Loshchilov and Hutter 2019) as torch.optim.AdamW computes it, in one pass over a flat buffer.
#pragma once

#include "nn/flat.h"

namespace inkling::train {

struct AdamWOptions {
    double beta1 = 0.9, beta2 = 0.99, eps = 1e-8;
    double weight_decay = 0.1;  // of matrices; vectors (gains, biases) are left alone
};

template <class T>
class AdamW {
  public:
    AdamW(nn::FlatParameters<T>& parameters, const AdamWOptions& options);

    // One update with the gradients times `gradient_scale` (which clipping asks for):
    //   p *= 1 - lr wd;  m += (g - m) (1 - b1);  v = v b2 + (1 - b2) g^2
    //   p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
    void step(double learning_rate, double gradient_scale = 1.0);

    // The state: updates made, and the two moments, laid out as the flat parameters.
    std::uint64_t updates = 0;
    Array<T> m, v;

  private:
    nn::FlatParameters<T>& parameters_;
    AdamWOptions options_;
};

// The L2 norm of all gradients, in double, by chunks of a fixed size.
template <class T>
double gradient_norm(const Array<T>& gradients);

// What gradients are multiplied with so that their norm is at most `longest`, as torch's clip_grad_norm_:
// min(1, longest / (norm + 1e-6)); longest 0: no limit.
double clip_scale(double norm, double longest);

extern template class AdamW<float>;
extern template class AdamW<double>;

}  // namespace inkling::train
