// Decides which instructions the library uses: those it was built for and the CPU has. Packages hold one library for
// AVX2 and one for AVX-512; the system's loader picks one, and this file decides about bfloat16 products.
//   INKLING_CPU=avx512 inkling bench      # uses less than the CPU has: avx2, avx512 or avx512-bf16
#pragma once

#include <string>

#include "engine/base/names.h"

namespace inkling {

// On x86-64 each kind includes those before it. Every 64-bit ARM CPU has NEON.
enum class CpuKind { portable, neon, avx2, avx512, avx512_bf16 };

constexpr auto names(CpuKind) {
    return name_table<CpuKind>({{CpuKind::portable, "portable"},
                                {CpuKind::neon, "neon"},
                                {CpuKind::avx2, "avx2"},
                                {CpuKind::avx512, "avx512"},
                                {CpuKind::avx512_bf16, "avx512-bf16"}});
}

CpuKind cpu_kind();      // of this machine's CPU
CpuKind library_kind();  // the highest kind this library is compiled for
CpuKind allowed_kind();  // INKLING_CPU, default: the highest. Throws Error for an unknown name.
CpuKind used_kind();     // the lowest of the three; ignores an unknown INKLING_CPU

bool has_vnni();  // whether AVX512_VNNI, sums of products of 8-bit numbers, may be used

std::string cpu_name();  // as the system names it, or "unknown"

}  // namespace inkling
