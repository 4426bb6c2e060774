// One loop over several arrays of one shape with strides of their own (0 where one is broadcast). Neighbouring axes
// that all operands walk evenly are merged first, so contiguous arrays of any rank become one long row.
#pragma once

#include <array>

#include "engine/array.h"
#include "engine/parallel.h"

namespace inkling {

template <std::size_t K>
struct StridedLoop {
    Shape shape;                     // merged; the last axis is the inner row
    std::array<Strides, K> strides;  // in elements, one per operand

    StridedLoop(const Shape& full, const std::array<const Strides*, K>& operands) {
        for (std::size_t axis = 0; axis < full.size(); ++axis) {
            if (full[axis] == 1) continue;
            if (!shape.empty() && mergeable(full, operands, axis)) {
                shape.back() *= full[axis];
                for (std::size_t k = 0; k < K; ++k) strides[k].back() = (*operands[k])[axis];
            } else {
                shape.push_back(full[axis]);
                for (std::size_t k = 0; k < K; ++k) strides[k].push_back((*operands[k])[axis]);
            }
        }
        if (shape.empty()) {
            shape.push_back(1);
            for (auto& s : strides) s.push_back(1);
        }
    }

    // row(offsets, n, steps): n elements of operand k, from element offsets[k], steps[k] apart. A contiguous single row
    // is cut into pieces for the threads; rows are otherwise handed out whole.
    template <class Row>
    void run(const Row& row) const {
        const std::size_t width = shape.back();
        const std::size_t rows = size_of(shape) / std::max<std::size_t>(width, 1);
        std::array<std::ptrdiff_t, K> steps;
        for (std::size_t k = 0; k < K; ++k) steps[k] = strides[k].back();
        if (width == 0) return;
        if (rows == 1) {
            parallel_for(width, kGrain, [&](std::size_t begin, std::size_t end) {
                std::array<std::ptrdiff_t, K> offsets;
                for (std::size_t k = 0; k < K; ++k) offsets[k] = static_cast<std::ptrdiff_t>(begin) * steps[k];
                row(offsets, end - begin, steps);
            });
            return;
        }
        parallel_rows(rows, width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t r = begin; r < end; ++r) row(row_offsets(r), width, steps);
        });
    }

  private:
    bool mergeable(const Shape& full, const std::array<const Strides*, K>& operands, std::size_t axis) const {
        for (std::size_t k = 0; k < K; ++k) {
            if (strides[k].back() != (*operands[k])[axis] * static_cast<std::ptrdiff_t>(full[axis])) return false;
        }
        return true;
    }

    std::array<std::ptrdiff_t, K> row_offsets(std::size_t r) const {
        std::array<std::ptrdiff_t, K> offsets{};
        for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
            const auto i = static_cast<std::ptrdiff_t>(r % shape[axis]);
            r /= shape[axis];
            for (std::size_t k = 0; k < K; ++k) offsets[k] += i * strides[k][axis];
        }
        return offsets;
    }
};

}  // namespace inkling
