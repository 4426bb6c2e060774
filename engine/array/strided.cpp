#include "engine/array/strided.h"

#include "engine/base/parallel.h"

namespace inkling {

StridedLoop::StridedLoop(const Shape& full, std::span<const Strides* const> operand_strides)
    : operands(operand_strides.size()) {
    check(operands <= kMaxOperands, "StridedLoop: at most {} operands are possible, got {}", kMaxOperands, operands);
    for (std::size_t axis = 0; axis < full.size(); ++axis) {
        if (full[axis] == 1) continue;
        if (!shape.empty() && mergeable(full, operand_strides, axis)) {
            shape.back() *= full[axis];
            for (std::size_t k = 0; k < operands; ++k) strides[k].back() = (*operand_strides[k])[axis];
        } else {
            shape.push_back(full[axis]);
            for (std::size_t k = 0; k < operands; ++k) strides[k].push_back((*operand_strides[k])[axis]);
        }
    }
    if (shape.empty()) {
        shape.push_back(1);
        for (auto& s : strides) s.push_back(1);
    }
}

void StridedLoop::run(FunctionRef<void(const Offsets& offsets, std::size_t n, const Offsets& steps)> row) const {
    const std::size_t width = shape.back();
    const std::size_t rows = size_of(shape) / std::max<std::size_t>(width, 1);
    if (width == 0) return;
    Offsets steps{};
    for (std::size_t k = 0; k < operands; ++k) steps[k] = strides[k].back();
    if (rows == 1) {
        return parallel_for(width, kGrain, kLine, [&](std::size_t begin, std::size_t end) {
            Offsets offsets{};
            for (std::size_t k = 0; k < operands; ++k) offsets[k] = static_cast<std::ptrdiff_t>(begin) * steps[k];
            row(offsets, end - begin, steps);
        });
    }
    parallel_rows(rows, width, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) row(row_offsets(r), width, steps);
    });
}

bool StridedLoop::mergeable(const Shape& full, std::span<const Strides* const> operand_strides,
                            std::size_t axis) const {
    for (std::size_t k = 0; k < operands; ++k) {
        if (strides[k].back() != (*operand_strides[k])[axis] * static_cast<std::ptrdiff_t>(full[axis])) return false;
    }
    return true;
}

StridedLoop::Offsets StridedLoop::row_offsets(std::size_t r) const {
    Offsets offsets{};
    for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
        const auto i = static_cast<std::ptrdiff_t>(r % shape[axis]);
        r /= shape[axis];
        for (std::size_t k = 0; k < operands; ++k) offsets[k] += i * strides[k][axis];
    }
    return offsets;
}

}  // namespace inkling
