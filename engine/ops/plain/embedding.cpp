//   embedding   y_i = W[id_i]     dW[v] = sum of dy_i over the i with id_i = v
#include "engine/ops/plain/plain.h"

#include "engine/ops/shape/select.h"
#include "engine/ops/shape/shape.h"

namespace inkling::plain {

template <class T>
Tensor<T> embedding(const IdArray& ids, const Tensor<T>& weight) {
    Shape shape = ids.shape();
    shape.push_back(weight.dim(-1));
    return reshape(index_select(weight, 0, ids.reshaped({ids.size()})), shape);
}

template Tensor<float> embedding(const IdArray&, const Tensor<float>&);
template Tensor<double> embedding(const IdArray&, const Tensor<double>&);

}  // namespace inkling::plain
