// A step of an optimizer with weight decay, for vectors of elements.
#pragma once

#include "engine/kernels/simd.h"

namespace inkling::train {

// keep value - step. If cautious, elements that the step does not bring nearer to 0 keep all of their value.
template <class V>
inline V decayed(const V& value, const V& keep, const V& step, bool cautious) {
    const V all = multiply_add(value, keep, -step);
    return cautious ? xsimd::select(value * step > V(0), all, value - step) : all;
}

}  // namespace inkling::train
