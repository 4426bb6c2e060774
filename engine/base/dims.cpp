#include "engine/base/dims.h"

namespace inkling {

std::size_t size_of(const Shape& shape) {
    std::ptrdiff_t n = 1;
    bool empty = false;
    for (const std::size_t d : shape) {
        check(static_cast<std::ptrdiff_t>(d) >= 0, "array: expected sizes of at least 0, got shape {}", shape);
        empty = empty || d == 0;  // the strides of an empty array must fit, too
        check(d == 0 || !__builtin_mul_overflow(n, d, &n), "array: the number of elements of shape {} is too large",
              shape);
    }
    return empty ? 0 : static_cast<std::size_t>(n);
}

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(static_cast<std::ptrdiff_t>(shape[i]));
    return text + (shape.size() == 1 ? ",)" : ")");
}

Strides row_major_strides(const Shape& shape) {
    Strides strides(shape.size());
    std::size_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = shape[i] == 1 ? 0 : static_cast<std::ptrdiff_t>(step);
        step *= shape[i];
    }
    return strides;
}

bool is_row_major(const Shape& shape, const Strides& strides) {
    std::size_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0; step *= shape[i])
        if (strides[i] != (shape[i] == 1 ? 0 : static_cast<std::ptrdiff_t>(step))) return false;
    return true;
}

std::size_t normalize_axis(const char* op, std::ptrdiff_t axis, std::size_t rank) {
    const auto r = static_cast<std::ptrdiff_t>(rank);
    check<AxisError>(r > 0, "{}: axis {} of a scalar, which has no axes", op, axis);
    check<AxisError>(axis >= -r && axis < r, "{}: axis {} must be between {} and {}", op, axis, -r, r - 1);
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

}  // namespace inkling

fmt::format_context::iterator fmt::formatter<inkling::Shape>::format(const inkling::Shape& shape,
                                                                     fmt::format_context& context) const {
    const std::string text = inkling::to_string(shape);
    return std::copy(text.begin(), text.end(), context.out());
}
