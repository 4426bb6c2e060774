// The precision of the operands of matrix products. Accumulation and everything else stay float32.
//   const WithPrecision scope(Precision::bf16);      // products of ops in this scope round to bfloat16
// Arrays of double are never rounded. Where numbers round to bfloat16:
//   engine/weights/operand.h             the operands of matmul and of linear layers, whole or while gemm packs them
//   engine/fused/attention.cpp           queries, keys and values; with AVX512_BF16 also what is multiplied in backward
//   engine/ops/elementwise/unary_op.cpp  the inputs that activations save
//   round_for (engine/weights)           the vectors of a token step, which computes row by row
// For inference, products with weights in quantized blocks (engine/kernels/block_types.h) round their other operand to
// 8 bits:
//   const RoundsActivations inference;   // in this scope, without gradients
#pragma once

#include "engine/base/names.h"
#include "engine/base/scoped_value.h"

namespace inkling {

enum class Precision { fp32, bf16 };

constexpr auto names(Precision) {
    return name_table<Precision>({{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}});
}

Precision product_precision();  // for ops called on this thread

bool has_bf16_products();  // whether the CPU multiplies bfloat16 (AVX512_BF16, see cpu.h)
bool has_fast_bf16();      // and faster than float32: true for Zen 4 and 5, not for Intel's Xeons

class WithPrecision {
  public:
    explicit WithPrecision(Precision precision);

  private:
    ScopedValue<Precision> scope_;
};

bool rounds_activations();  // on this thread

class RoundsActivations {
  public:
    RoundsActivations();

  private:
    ScopedValue<bool> scope_;
};

}  // namespace inkling
