#include "engine/array/bfloat16.h"

#include "engine/array/axes.h"
#include "engine/array/strided.h"
#include "engine/base/parallel.h"
#include "engine/base/profile.h"
#include "engine/kernels/add_row.h"

namespace inkling {
namespace {

template <class To, class From, class F>
Array<To> converted(const ConstArray<From>& x, const F& convert) {
    profile::count_bytes(static_cast<double>(x.size() * (sizeof(To) + sizeof(From))));
    Array<To> y(x.shape());
    const From* const from = x.data();
    To* const to = y.data();
    StridedLoop(x.shape(), {&y.strides(), &x.strides()})
        .run([&](const auto& offsets, std::size_t n, const auto& steps) {
            To* const out = to + offsets[0];
            const From* const in = from + offsets[1];
            if (steps[1] == 1) {
                for (std::size_t i = 0; i < n; ++i) out[i] = convert(in[i]);
            } else {
                for (std::size_t i = 0; i < n; ++i) out[i] = convert(in[static_cast<std::ptrdiff_t>(i) * steps[1]]);
            }
        });
    return y;
}

}  // namespace

Array<BFloat16> round_to_bfloat16(const ConstArray<float>& x) {
    return converted<BFloat16>(x, [](float v) { return round_to_bfloat16(v); });
}

Array<float> widen(const ConstArray<BFloat16>& h) {
    return converted<float>(h, [](BFloat16 v) { return widen(v); });
}

Array<BFloat16> round_and_sum(const ConstArray<float>& x, Array<float>& column_sums) {
    constexpr std::size_t kRows = 64;  // rows per partial sum, for any number of threads
    const std::size_t rows = x.dim(0), columns = x.dim(1), chunks = (rows + kRows - 1) / kRows;
    profile::count_bytes(static_cast<double>(6 * x.size()));
    Array<BFloat16> y(x.shape());
    Array<float> partial({chunks, columns});
    const float* const from = x.data();
    BFloat16* const to = y.data();
    parallel_rows(chunks, kRows * columns, [&](std::size_t begin, std::size_t end) {
        std::fill(partial.data() + begin * columns, partial.data() + end * columns, 0.0f);
        for (std::size_t r = begin * kRows; r < std::min(rows, end * kRows); ++r) {
            const float* const row = from + r * columns;
            BFloat16* const out = to + r * columns;
            float* const sums = partial.data() + r / kRows * columns;
            for (std::size_t c = 0; c < columns; ++c) out[c] = round_to_bfloat16(row[c]);
            add_row(columns, sums, row);
        }
    });
    column_sums = sum_over<float>(partial, {0});
    return y;
}

}  // namespace inkling
