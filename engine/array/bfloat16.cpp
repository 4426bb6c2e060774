#include "engine/array/bfloat16.h"

#include "engine/array/rows.h"
#include "engine/array/strided.h"
#include "engine/base/profile.h"
#include "engine/kernels/add_row.h"

namespace inkling {
namespace {

template <class To, class From, class F>
Array<To> converted(const ConstArray<From>& x, const F& convert) {
    profile::count_bytes(static_cast<double>(x.size() * (sizeof(To) + sizeof(From))));
    Array<To> y(x.shape());
    each_pair(y, x, [&convert](To& to, From from) { to = convert(from); });
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
    constexpr std::size_t kRows = 64;  // in a chunk
    const std::size_t columns = x.dim(1);
    profile::count_bytes(static_cast<double>(6 * x.size()));
    Array<BFloat16> y(x.shape());
    const float* const from = x.data();
    BFloat16* const to = y.data();
    column_sums = sum_of_rows<float>(x.dim(0), columns, kRows, [=](std::size_t r, float* sums) {
        const float* const row = from + r * columns;
        BFloat16* const out = to + r * columns;
        for (std::size_t c = 0; c < columns; ++c) out[c] = round_to_bfloat16(row[c]);
        add_row(columns, sums, row);
    });
    return y;
}

}  // namespace inkling
