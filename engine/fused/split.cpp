//   split    y_i = a slice of x     dx = the pieces' gradients, joined in one array
// A gradient from slices would be filled with zeros and added to: `bench --preset small` then takes 1.09 times as long.
#include "engine/fused/split.h"

#include <numeric>

#include "engine/autograd/op_gradients.h"

namespace inkling {

std::vector<std::size_t> equal_sizes(const Shape& shape, std::size_t parts, std::ptrdiff_t axis) {
    const std::size_t length = shape[normalize_axis("split", axis, shape.size())];
    check(parts > 0 && length % parts == 0, "split: {} equal parts are required on axis {}, got shape {}", parts, axis,
          shape);
    return std::vector<std::size_t>(parts, length / parts);
}

template <class T>
std::vector<Tensor<T>> split(const Tensor<T>& x, const std::vector<std::size_t>& sizes, std::ptrdiff_t axis) {
    check_defined("split", x);
    const std::size_t parts = sizes.size(), length = x.shape()[normalize_axis("split", axis, x.rank())];
    auto bounds = std::make_shared<std::vector<std::size_t>>(parts + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), bounds->begin() + 1);
    check(parts > 0 && bounds->back() == length,
          "split: sizes that add up to {} are required on axis {}, got {} for shape {}", length, axis,
          fmt::join(sizes, " + "), x.shape());
    const auto piece = [axis, bounds](const auto& a, std::size_t i) {
        return a.sliced(axis, (*bounds)[i], (*bounds)[i + 1]);
    };
    // A joint node lies between x and its pieces. The backward of each piece writes its part of the joint gradient.
    auto written = std::make_shared<std::vector<bool>>(parts, false);
    auto given = std::make_shared<std::vector<bool>>(parts, false);  // whether make_grad has returned a piece's place
    const auto pass = [](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, dy); };
    const Tensor<T> whole =
        saves_nothing(record("split", x.value(), inputs(x), pass, [=](const Array<T>& dy, Gradients<T>& grads) {
            for (std::size_t i = 0; i < parts; ++i) {
                Array<T> hole = piece(dy, i);
                if (!(*written)[i]) copy_into(hole, Array<T>({}, T{0}).broadcasted(hole.shape()));
            }
            written->assign(parts, false);
            grads.add(0, dy);
        }));
    if (whole.node()) declare(whole).partial = true;
    const auto joint_piece = [=](Node<T>& joint, std::size_t i) {
        if (!joint.has_grad) {
            joint.grad = new_gradient(*joint.inputs[0]);
            joint.has_grad = true;
            written->assign(parts, false);
            given->assign(parts, false);
        }
        return piece(joint.grad, i);
    };
    std::vector<Tensor<T>> pieces;
    for (std::size_t i = 0; i < parts; ++i) {
        const auto gradient = [=, all = x.shape()](const Tensor<T>& dy, Gradients<T>& grads) {
            const ConstArray<T> zeros = Array<T>({}, T{0}).broadcasted(all);  // the values do not matter
            grads.add_through(dy, [&] { return slice(grads.in(0, zeros), axis, (*bounds)[i], (*bounds)[i + 1]); });
        };
        const auto fast = [=](const Array<T>& dy, Gradients<T>& grads) {
            Array<T> place = joint_piece(grads.input(0), i);
            if (place.data() != dy.data() || place.strides() != dy.strides()) copy_into(place, dy);
            (*written)[i] = true;
        };
        Tensor<T> y = saves_nothing(record("split", piece(x.value(), i), inputs(whole), gradient, fast));
        if (y.node()) {
            declare(y).make_grad = [=](Node<T>& self) {
                const Array<T> place = joint_piece(*self.inputs[0], i);
                if ((*given)[i]) return Array<T>(place.shape());  // two views of a piece must not write to one place
                (*given)[i] = true;
                return place;
            };
        }
        pieces.push_back(std::move(y));
    }
    return pieces;
}

template std::vector<Tensor<float>> split(const Tensor<float>&, const std::vector<std::size_t>&, std::ptrdiff_t);
template std::vector<Tensor<double>> split(const Tensor<double>&, const std::vector<std::size_t>&, std::ptrdiff_t);

}  // namespace inkling
