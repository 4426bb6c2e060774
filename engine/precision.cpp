#include "engine/precision.h"

namespace inkling {
namespace {

thread_local Precision current = Precision::fp32;

}  // namespace

Precision product_precision() { return current; }

bool has_fast_bf16() {
#ifdef __AVX512BF16__
    return true;
#else
    return false;
#endif
}

WithPrecision::WithPrecision(Precision precision) : before_(current) { current = precision; }
WithPrecision::~WithPrecision() { current = before_; }

}  // namespace inkling
