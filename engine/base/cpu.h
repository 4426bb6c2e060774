// Which instructions the library uses: those of the build, as far as the CPU has them. Packages hold the library for
// AVX2 and for AVX-512; the system's loader takes the one that fits, and products of bfloat16 are chosen here.
//   INKLING_CPU=avx512 inkling bench      # takes less than the CPU has: avx2, avx512 or avx512-bf16
#pragma once

#include "engine/base/names.h"

namespace inkling {

// Each has what those before it have; NEON is what every 64-bit ARM has, and the rest is of x86-64.
enum class CpuKind { portable, neon, avx2, avx512, avx512_bf16 };

constexpr auto names(CpuKind) {
    return name_table<CpuKind>({{CpuKind::portable, "portable"},
                                {CpuKind::neon, "neon"},
                                {CpuKind::avx2, "avx2"},
                                {CpuKind::avx512, "avx512"},
                                {CpuKind::avx512_bf16, "avx512-bf16"}});
}

CpuKind cpu_kind();      // of this machine's CPU
CpuKind library_kind();  // the most that the library which runs is compiled for
CpuKind allowed_kind();  // INKLING_CPU; without it, all. Throws Error for a name that is none.
CpuKind used_kind();     // the least of the three; a name in INKLING_CPU that is none counts as all

}  // namespace inkling
