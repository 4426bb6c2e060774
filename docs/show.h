// What the programs of the tutorials print with.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "engine/autograd/tensor.h"

// Name, shape and four decimals. A line holds the last axis; an empty line separates matrices.
template <class A>
void show(const char* name, const A& a_any) {
    const auto a = a_any.contiguous();
    fmt::print("{} {}\n", name, to_string(a.shape()));
    const std::size_t columns = a.dim(-1), rows = a.size() / columns;
    for (std::size_t r = 0; r < rows; ++r) {
        if (r > 0 && a.rank() > 2 && r % a.dim(-2) == 0) fmt::print("\n");
        for (std::size_t c = 0; c < columns; ++c) {
            const double value = static_cast<double>(a.data()[r * columns + c]);
            if (std::is_integral_v<typename A::value_type>)
                fmt::print("{:3}", value);
            else
                fmt::print("{:9.4f}", std::abs(value) < 0.5e-4 ? 0.0 : value);  // never -0.0000
        }
        fmt::print("\n");
    }
}
inline void show(const char* name, const inkling::Tensor<double>& t) { show(name, t.value()); }
