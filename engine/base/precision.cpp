#include "engine/base/precision.h"

#include "engine/base/cpu.h"

namespace inkling {
namespace {

thread_local Precision current = Precision::fp32;

}  // namespace

Precision product_precision() { return current; }

bool has_fast_bf16() { return used_kind() == CpuKind::avx512_bf16; }

WithPrecision::WithPrecision(Precision precision) : before_(current) { current = precision; }
WithPrecision::~WithPrecision() { current = before_; }

}  // namespace inkling
