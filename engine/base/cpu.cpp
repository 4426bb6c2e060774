#include "engine/base/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace inkling {
namespace {

const char* asked() { return std::getenv("INKLING_CPU"); }

}  // namespace

CpuKind cpu_kind() {
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return CpuKind::portable;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return CpuKind::avx2;
    return __builtin_cpu_supports("avx512bf16") ? CpuKind::avx512_bf16 : CpuKind::avx512;
#else
    return library_kind();  // every CPU of the family runs the compiled instructions
#endif
}

CpuKind library_kind() {
#if defined(__AVX512BF16__)
    return CpuKind::avx512_bf16;
#elif defined(__AVX512F__)
    return CpuKind::avx512;
#elif defined(__AVX2__)
    return CpuKind::avx2;
#elif defined(__aarch64__)
    return CpuKind::neon;
#else
    return CpuKind::portable;
#endif
}

CpuKind allowed_kind() {
    const char* const name = asked();
    return name && *name ? named<CpuKind>("INKLING_CPU", name) : CpuKind::avx512_bf16;
}

CpuKind used_kind() {
    static const CpuKind kind = [] {
        const CpuKind able = std::min(cpu_kind(), library_kind());
        const char* const name = asked();
        return std::min(able, find_named<CpuKind>(name ? name : "").value_or(able));
    }();
    return kind;
}

bool has_vnni() {
#ifdef __x86_64__
    return used_kind() >= CpuKind::avx512 && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    return "unknown";
}

}  // namespace inkling
