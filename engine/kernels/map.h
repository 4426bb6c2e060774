// Elementwise functions of broadcast arrays: out[i] = f(a[i], b[i], ...), vectorised and in parallel.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/strided.h"
#include "engine/profile.h"

namespace inkling {

// f takes and returns Vec<T>. Every input is an array that must broadcast to `shape`. The result is contiguous.
template <class T, class F, class... In>
Array<T> map_arrays(const Shape& shape, const F& f, const In&... in) {
    constexpr std::size_t K = sizeof...(In);
    constexpr std::size_t kBlock = 256;  // elements gathered at a time from inputs that are not dense along a row
    Array<T> out(shape);
    profile::count_bytes(static_cast<double>((out.size() + (in.size() + ... + 0)) * sizeof(T)));
    const auto widened = [&shape](const ConstArray<T>& a) { return a.shape() == shape ? a : a.broadcasted(shape); };
    const std::array<ConstArray<T>, K> wide{widened(in)...};
    std::array<const Strides*, K + 1> strides;
    std::array<const T*, K> data;
    strides[K] = &out.strides();
    for (std::size_t k = 0; k < K; ++k) strides[k] = &wide[k].strides(), data[k] = wide[k].data();
    T* const result = out.data();
    StridedLoop<K + 1>(shape, strides).run([&](const auto& offsets, std::size_t n, const auto& steps) {
        const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
            if (((steps[I] == 1) && ...)) {
                simd_map(n, result + offsets[K], f, (data[I] + offsets[I])...);
                return;
            }
            alignas(64) T block[K][kBlock];
            for (std::size_t done = 0; done < n; done += kBlock) {
                const std::size_t count = std::min(kBlock, n - done);
                for (std::size_t k = 0; k < K; ++k) {
                    const T* from = data[k] + offsets[k] + static_cast<std::ptrdiff_t>(done) * steps[k];
                    for (std::size_t i = 0; i < count; ++i, from += steps[k]) block[k][i] = *from;
                }
                simd_map(count, result + offsets[K] + done, f, block[I]...);
            }
        };
        call(std::make_index_sequence<K>{});
    });
    return out;
}

// The same for functions of one number that have no vector form.
template <class T, class F>
auto lanewise(const F& f) {
    return [f](Vec<T> x) {
        alignas(64) T lanes[Vec<T>::size];
        x.store_aligned(lanes);
        for (T& lane : lanes) lane = f(lane);
        return Vec<T>::load_aligned(lanes);
    };
}

}  // namespace inkling
