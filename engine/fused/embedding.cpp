//   embedding   y_i = W[id_i]     dW[v] = sum of dy_i over the i with id_i = v, in order of i
#include "engine/fused/embedding.h"

#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/profile.h"
#include "engine/kernels/add_row.h"
#include "engine/ops/plain/plain.h"

namespace inkling {

template <class T>
Tensor<T> embedding(const IdArray& ids_any, const Weight<T>& weight) {
    check_defined("embedding", weight);
    check(ids_any.defined(), "embedding: expected ids, got an undefined array");
    check(weight.shape().size() == 2, "embedding: expected a table (V, C), got shape {}", weight.shape());
    const IdArray ids = ids_any.clone();  // the caller may write to its own before backward
    const std::size_t rows = weight.dim(0), width = weight.dim(1), n = ids.size();
    for (std::size_t i = 0; i < n; ++i) {
        check(ids.data()[i] >= 0 && static_cast<std::size_t>(ids.data()[i]) < rows,
              "embedding: ids must be at least 0 and below {}, got {}", rows, ids.data()[i]);
    }
    Shape shape = ids.shape();
    shape.push_back(width);
    Array<T> y(shape);
    profile::count_bytes(static_cast<double>(2 * y.size() * sizeof(T)));
    const auto& packed = weight.packed();
    const ConstArray<T> table = packed ? ConstArray<T>() : weight.value().contiguous();
    T* const out = y.data();
    each_row(n, width, [&](std::size_t i) {
        const auto id = static_cast<std::size_t>(ids.data()[i]);
        if (packed) {
            packed->unpack_rows(id, id + 1, out + i * width);
        } else {
            std::copy_n(table.data() + id * width, width, out + i * width);
        }
    });
    auto gradient = [ids, rows, width](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add_through(dy, [&] {  // the same rows of a dummy table
            const Tensor<T> other = grads.in(0, Array<T>({}, T{0}).broadcasted({rows, width}));
            return plain::embedding(ids, other);
        });
    };
    auto fast = [ids, n, width](const Array<T>& dy_any, Gradients<T>& grads) {
        const Array<T> dy = dy_any.contiguous();
        grads.accumulate_into(0, [&](Array<T>& dw, bool accumulate) {
            T* const to = dw.data();
            if (!accumulate) {
                parallel_for(dw.size(), kGrain,
                             [&](std::size_t begin, std::size_t end) { std::fill(to + begin, to + end, T{0}); });
            }
            // Each thread owns columns, so that no two threads write to one number and every sum has one order.
            const std::size_t columns = std::max<std::size_t>(16, kGrain / std::max<std::size_t>(n, 1));
            parallel_for(width, columns, kLine, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = 0; i < n; ++i) {
                    T* const row = to + static_cast<std::size_t>(ids.data()[i]) * width;
                    add_row(end - begin, row + begin, dy.data() + i * width + begin);
                }
            });
        });
    };
    return record("embedding", std::move(y), inputs(weight.tensor()), std::move(gradient), std::move(fast));
}

template Tensor<float> embedding(const IdArray&, const Weight<float>&);
template Tensor<double> embedding(const IdArray&, const Weight<double>&);

}  // namespace inkling
