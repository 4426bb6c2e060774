#include "engine/more/scatter.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "engine/base/both_types.h"
#include "engine/ops/elementwise/binary.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/select.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

// The destinations of a source's elements: their row-major positions in x.
std::vector<std::size_t> places_of(const Shape& x, std::size_t axis, const IdArray& index) {
    const ConstArray<std::int32_t> ids = index.contiguous();
    Strides across = row_major_strides(x);
    const std::ptrdiff_t along = std::exchange(across[axis], 0);
    std::vector<std::size_t> places(ids.size());
    for (std::size_t at = 0; at < places.size(); ++at) {
        const std::int32_t id = ids.data()[at];
        check(id >= 0 && static_cast<std::size_t>(id) < x[axis], "scatter: ids must be at least 0 and below {}, got {}",
              x[axis], id);
        places[at] = static_cast<std::size_t>(offset_of(at, ids.shape(), across, x.size()) + id * along);
    }
    return places;
}

}  // namespace

template <class T>
Tensor<T> scatter(const Tensor<T>& x, std::ptrdiff_t axis, const IdArray& index, const Tensor<T>& source, Scatter how,
                  bool include_self) {
    check_defined("scatter", x, source);
    if (x.rank() == 0)
        return as_row(x, [&](const Tensor<T>& row) {
            return scatter(row, axis, index.defined() ? index.reshaped(Shape{1}) : index, reshape(source, Shape{1}),
                           how, include_self);
        });
    const std::size_t k = normalize_axis("scatter", axis, x.rank());
    bool fits = index.defined() && index.rank() == x.rank() && source.rank() == x.rank();
    Tensor<T> values = source;
    for (std::size_t i = 0; fits && i < x.rank(); ++i) {
        const std::size_t n = index.shape()[i];
        fits = n <= source.shape()[i] && (i == k || n <= x.shape()[i]);
        if (fits && n < source.shape()[i]) values = slice(values, static_cast<std::ptrdiff_t>(i), 0, n);
    }
    check(fits, "scatter: expected an index no larger than source, nor than x outside the axis, got {}, {}, {}",
          index.defined() ? index.shape() : Shape(), x.shape(), source.shape());
    const std::vector<std::size_t> to = places_of(x.shape(), k, index);
    const std::size_t n = x.size(), nothing = n + to.size();
    std::vector<std::size_t> count(n);
    for (const std::size_t place : to) ++count[place];
    if (how == Scatter::sum || how == Scatter::mean) {
        MaskArray gone({n});
        Array<T> share(x.shape());
        for (std::size_t i = 0; i < n; ++i) {
            gone.data()[i] = !include_self && count[i] > 0;
            share.data()[i] = T{1} / static_cast<T>(count[i] + !gone.data()[i]);
        }
        IdArray ids({to.size()});
        std::copy(to.begin(), to.end(), ids.data());
        const Tensor<T> kept = include_self ? flatten(x) : masked_fill(flatten(x), gone, 0);
        const Tensor<T> total = reshape(scatter_add(kept, 0, ids, flatten(values)), x.shape());
        return how == Scatter::sum ? total : mul(total, Tensor<T>(share));
    }
    if (to.empty()) return x;
    // `all` is x, the source, and a neutral number. `hits` are the positions in it of the source's elements, sorted by
    // their destination in x; those of destination i begin at first[i].
    std::vector<std::size_t> first(n + 1);
    std::partial_sum(count.begin(), count.end(), first.begin() + 1);
    std::vector<std::int32_t> hits(to.size());
    std::vector<std::size_t> next = first;
    for (std::size_t j = 0; j < to.size(); ++j) hits[next[to[j]]++] = static_cast<std::int32_t>(n + j);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double none = how == Scatter::prod ? 1 : how == Scatter::max ? -infinity : how == Scatter::min ? infinity : 0;
    const Tensor<T> all = concatenate({flatten(x), flatten(values), Tensor<T>::full({1}, static_cast<T>(none))}, 0);
    IdArray places(Shape{n});
    if (how == Scatter::replace) {
        for (std::size_t i = 0; i < n; ++i)
            places.data()[i] = count[i] ? hits[first[i + 1] - 1] : static_cast<std::int32_t>(i);
        return reshape(index_select(all, 0, places), x.shape());
    }
    // Elements with similar counts are the rows of one matrix. Its width is a power of 2, which bounds the memory.
    std::map<std::size_t, std::vector<std::size_t>> like;
    for (std::size_t i = 0; i < n; ++i) like[std::bit_ceil(count[i] + 1)].push_back(i);
    std::vector<Tensor<T>> results;
    std::int32_t done = 0;
    for (const auto& [width, elements] : like) {
        IdArray from(Shape{elements.size() * width}, static_cast<std::int32_t>(nothing));
        std::int32_t* row = from.data();
        for (const std::size_t i : elements) {
            if (include_self || count[i] == 0) row[0] = static_cast<std::int32_t>(i);
            std::copy(hits.data() + first[i], hits.data() + first[i + 1], row + 1);
            places.data()[i] = done++;
            row += width;
        }
        const Tensor<T> rows = reshape(index_select(all, 0, from), Shape{elements.size(), width});
        results.push_back(how == Scatter::prod ? prod(rows, 1) : how == Scatter::max ? max(rows, 1) : min(rows, 1));
    }
    return reshape(index_select(concatenate(results, 0), 0, places), x.shape());
}

INKLING_BOTH_TYPES(scatter<T>);

}  // namespace inkling
