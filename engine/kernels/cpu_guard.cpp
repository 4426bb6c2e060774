// Part of the library for many CPUs, compiled for the oldest. Before other code of the library runs, it refuses
// a CPU without AVX2 with a message; otherwise the program would end by an unknown instruction.
#include <unistd.h>

namespace {

__attribute__((constructor(101))) void refuse_old_cpu() {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return;
    constexpr char text[] = "inkling: Inkling needs a CPU with AVX2, FMA and BMI2; build it from source for this one\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

}  // namespace
