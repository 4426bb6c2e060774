#include "engine/array/map.h"

#include <optional>

#include "engine/array/strided.h"
#include "engine/base/profile.h"

namespace inkling {

template <class T>
Array<T> map_rows(const Shape& shape, std::span<const ConstArray<T>* const> in, MapRow<T> row, Array<T> out) {
    constexpr std::size_t kBlock = 256;  // elements gathered at a time from inputs that are not dense along a row
    constexpr std::size_t kMaxInputs = StridedLoop::kMaxOperands - 1;
    const std::size_t K = in.size();
    if (!out.defined()) out = Array<T>(shape);
    std::array<std::optional<ConstArray<T>>, kMaxInputs> broadcast;
    std::array<const ConstArray<T>*, kMaxInputs> wide;
    std::array<const Strides*, kMaxInputs + 1> strides{&out.strides()};  // the result is operand 0
    std::size_t elements = out.size();
    for (std::size_t k = 0; k < K; ++k) {
        wide[k] = in[k]->shape() == shape ? in[k] : &broadcast[k].emplace(in[k]->broadcasted(shape));
        strides[k + 1] = &wide[k]->strides();
        elements += in[k]->size();
    }
    profile::count_bytes(static_cast<double>(elements * sizeof(T)));
    T* const result = out.data();
    const StridedLoop loop(shape, std::span(strides).first(K + 1));
    loop.run([&](const StridedLoop::Offsets& offsets, std::size_t n, const StridedLoop::Offsets& steps) {
        std::array<const T*, kMaxInputs> from;
        bool dense = true;
        for (std::size_t k = 0; k < K; ++k) {
            from[k] = wide[k]->data() + offsets[k + 1];
            dense = dense && steps[k + 1] == 1;
        }
        if (dense) return row(n, result + offsets[0], from.data());
        alignas(64) T gathered[kMaxInputs][kBlock];
        std::array<const T*, kMaxInputs> block;
        for (std::size_t k = 0; k < K; ++k) block[k] = gathered[k];
        for (std::size_t done = 0; done < n; done += kBlock) {
            const std::size_t count = std::min(kBlock, n - done);
            for (std::size_t k = 0; k < K; ++k) {
                for (std::size_t i = 0; i < count; ++i, from[k] += steps[k + 1]) gathered[k][i] = *from[k];
            }
            row(count, result + offsets[0] + done, block.data());
        }
    });
    return out;
}

template Array<float> map_rows(const Shape&, std::span<const ConstArray<float>* const>, MapRow<float>, Array<float>);
template Array<double> map_rows(const Shape&, std::span<const ConstArray<double>* const>, MapRow<double>,
                                Array<double>);

}  // namespace inkling
