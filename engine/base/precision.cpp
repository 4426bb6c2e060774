#include "engine/base/precision.h"

#include "engine/base/cpu.h"

namespace inkling {
namespace {

thread_local Precision current = Precision::fp32;
thread_local bool rounding = false;

}  // namespace

Precision product_precision() { return current; }

bool has_bf16_products() { return used_kind() == CpuKind::avx512_bf16; }

bool has_fast_bf16() {
#ifdef __x86_64__
    return has_bf16_products() && __builtin_cpu_is("amd");
#else
    return false;
#endif
}

WithPrecision::WithPrecision(Precision precision) : scope_(current, precision) {}

bool rounds_activations() { return rounding; }

RoundsActivations::RoundsActivations() : scope_(rounding, true) {}

}  // namespace inkling
