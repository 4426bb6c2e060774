#include "engine/array/broadcast.h"

#include "engine/array/axes.h"

namespace inkling {

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
    const std::size_t rank = std::max(a.size(), b.size());
    Shape shape(rank);
    for (std::size_t i = 0; i < rank; ++i) {  // i counts from the right
        const std::size_t da = i < a.size() ? a[a.size() - 1 - i] : 1, db = i < b.size() ? b[b.size() - 1 - i] : 1;
        check(da == db || da == 1 || db == 1, "{}: shapes must broadcast, got {} and {}", op, a, b);
        shape[rank - 1 - i] = da == 1 ? db : da;
    }
    return shape;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
    if (from.size() > to.size()) return false;
    const std::size_t extra = to.size() - from.size();
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i] != 1 && from[i] != to[extra + i]) return false;
    }
    return true;
}

std::vector<std::size_t> broadcast_axes(const Shape& from, const Shape& to) {
    const std::size_t extra = to.size() - from.size();
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (i < extra || (from[i - extra] == 1 && to[i] != 1)) axes.push_back(i);
    }
    return axes;
}

template <class T>
Array<T> sum_to(const Array<T>& g, const Shape& shape) {
    return g.shape() == shape ? g : sum_over<T>(g, broadcast_axes(shape, g.shape())).reshaped(shape);
}

template Array<float> sum_to(const Array<float>&, const Shape&);
template Array<double> sum_to(const Array<double>&, const Shape&);

}  // namespace inkling
