#include "engine/precision.h"

#include "engine/check.h"

namespace inkling {
namespace {

thread_local Precision current = Precision::fp32;

}  // namespace

Precision precision_named(std::string_view name) {
    check(name == "fp32" || name == "bf16", "the precision is fp32 or bf16, got '{}'", name);
    return name == "bf16" ? Precision::bf16 : Precision::fp32;
}

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
