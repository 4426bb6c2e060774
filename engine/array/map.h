// Elementwise functions of broadcast arrays: y[i] = f(a[i], b[i], ...), vectorised and in parallel. Only a row of f is
// compiled for each function; the loops around it are compiled once (map.cpp).
//   Array<T> y = map_arrays<T>(shape, [](auto a, auto b) { return a + b; }, x, shift);
#pragma once

#include <array>
#include <span>
#include <utility>

#include "engine/array/array.h"
#include "engine/base/function_ref.h"
#include "engine/kernels/simd.h"

namespace inkling {

// row(n, out, in): out[i] = f(in[0][i], in[1][i], ...) for n adjacent elements; out may be an input.
template <class T>
using MapRow = FunctionRef<void(std::size_t n, T* out, const T* const* in)>;

// Makes a row from an f that takes K vectors Vec<T> and returns one.
template <class T, std::size_t K, class F>
auto map_row(const F& f) {
    return [f](std::size_t n, T* out, const T* const* in) {
        [&]<std::size_t... I>(std::index_sequence<I...>) { simd_map(n, out, {in[I]...}, f); }
        (std::make_index_sequence<K>{});
    };
}

// Every input must broadcast to `shape`. The result is contiguous: `out`, which may be an input, or a new array.
template <class T>
Array<T> map_rows(const Shape& shape, std::span<const ConstArray<T>* const> in, MapRow<T> row, Array<T> out = {});

template <class T, class F, class... In>
Array<T> map_arrays(const Shape& shape, const F& f, const In&... in) {
    const std::array<const ConstArray<T>*, sizeof...(In)> all{&static_cast<const ConstArray<T>&>(in)...};
    return map_rows<T>(shape, all, map_row<T, sizeof...(In)>(f));
}

}  // namespace inkling
