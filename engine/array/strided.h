// One loop over several arrays of one shape, each with its own strides (0 where it is broadcast). It first merges
// neighbouring axes whose elements are evenly spaced in every operand, so contiguous arrays of any rank become one long
// row.
//   StridedLoop(shape, {&y.strides(), &x.strides()}).run([&](const auto& offsets, std::size_t n, const auto& steps) {
//       // element i of this row: y.data()[offsets[0] + i * steps[0]], x.data()[offsets[1] + i * steps[1]]
//   });
#pragma once

#include <array>
#include <initializer_list>
#include <span>

#include "engine/array/array.h"
#include "engine/base/function_ref.h"

namespace inkling {

struct StridedLoop {
    static constexpr std::size_t kMaxOperands = 5;
    using Offsets = std::array<std::ptrdiff_t, kMaxOperands>;  // in elements, one per operand

    Shape shape;                                // merged; the last axis is the inner row
    std::array<Strides, kMaxOperands> strides;  // in elements, one per operand
    std::size_t operands;

    StridedLoop(const Shape& full, std::span<const Strides* const> operand_strides);
    StridedLoop(const Shape& full, std::initializer_list<const Strides*> operand_strides)
        : StridedLoop(full, std::span(operand_strides.begin(), operand_strides.size())) {}

    // Calls row(offsets, n, steps) for n elements of each operand k, from element offsets[k], steps[k] apart. Threads
    // share a single contiguous row in pieces, and several rows whole.
    void run(FunctionRef<void(const Offsets& offsets, std::size_t n, const Offsets& steps)> row) const;

  private:
    bool mergeable(const Shape& full, std::span<const Strides* const> operand_strides, std::size_t axis) const;
    Offsets row_offsets(std::size_t r) const;
};

// The f of a copy: each_pair() copies dense rows at once.
struct Assign {
    template <class T>
    void operator()(T& to, const T& from) const {
        to = from;
    }
};

// Calls f(to, from) for each element of dst and of src, which has the same shape.
template <class To, class From, class F>
void each_pair(Array<To>& dst, const ConstArray<From>& src, const F& f) {
    StridedLoop(dst.shape(), {&dst.strides(), &src.strides()})
        .run([&, all_to = dst.data(), all_from = src.data()](const auto& offsets, std::size_t n, const auto& steps) {
            To* to = all_to + offsets[0];
            const From* from = all_from + offsets[1];
            if (steps[0] != 1 || steps[1] != 1) {
                for (std::size_t i = 0; i < n; ++i, to += steps[0], from += steps[1]) f(*to, *from);
            } else if constexpr (std::is_same_v<F, Assign>) {
                std::copy_n(from, n, to);
            } else {
                for (std::size_t i = 0; i < n; ++i) f(to[i], from[i]);
            }
        });
}

}  // namespace inkling
