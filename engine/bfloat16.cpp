#include "engine/bfloat16.h"

#include "engine/profile.h"
#include "engine/strided.h"

namespace inkling {
namespace {

template <class To, class From, class F>
Array<To> converted(const Array<From>& x, const F& convert) {
    profile::count_bytes(static_cast<double>(x.size() * (sizeof(To) + sizeof(From))));
    Array<To> y(x.shape());
    const From* const from = x.data();
    To* const to = y.data();
    StridedLoop<2>(x.shape(), {&y.strides(), &x.strides()}).run([&](auto offsets, std::size_t n, auto steps) {
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

Array<BFloat16> round_to_bfloat16(const Array<float>& x) {
    return converted<BFloat16>(x, [](float v) { return round_to_bfloat16(v); });
}

Array<float> widen(const Array<BFloat16>& h) {
    return converted<float>(h, [](BFloat16 v) { return widen(v); });
}

}  // namespace inkling
