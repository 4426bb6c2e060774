// A thread's floating-point mode: rounding, and whether subnormal numbers count as zero (FTZ and DAZ, which programs
// built with -ffast-math turn on).
//   const StandardNumbers scope;   // rounds to nearest and keeps subnormals until the end of the scope, so that
//                                  // results are the same in every program
// parallel_for() gives its threads the mode of the calling thread.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace inkling {

// The CPU's control register.
struct FloatControl {
#if defined(__x86_64__)
    using Word = unsigned;
    static constexpr Word kStandard = 0x1F80, kFlush = 0x8040;  // every exception masked; FTZ and DAZ
    static constexpr Word kFlags = 0x3F;                        // raised exceptions
    static Word read() { return _mm_getcsr(); }
    static void write(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
    using Word = unsigned long;
    static constexpr Word kStandard = 0, kFlush = 1 << 24, kFlags = 0;  // FPCR, FZ
    static Word read() {
        Word word;
        asm volatile("mrs %0, fpcr" : "=r"(word));
        return word;
    }
    static void write(Word word) { asm volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else  // other CPUs: only rounding
    using Word = int;
    static constexpr Word kStandard = FE_TONEAREST, kFlush = 0, kFlags = 0;
    static Word read() { return std::fegetround(); }
    static void write(Word word) { std::fesetround(word); }
#endif
};

class FloatMode {
  public:
    static FloatMode current() { return FloatMode(FloatControl::read() & ~FloatControl::kFlags); }
    static FloatMode standard() { return FloatMode(FloatControl::kStandard); }
    // This mode with FTZ and DAZ turned on.
    FloatMode flushing() const { return FloatMode(control_ | FloatControl::kFlush); }

    void set() const {  // for the calling thread
        const FloatControl::Word now = FloatControl::read();
        if ((now & ~FloatControl::kFlags) != control_) FloatControl::write(control_ | (now & FloatControl::kFlags));
    }
    bool operator==(const FloatMode&) const = default;

  private:
    explicit FloatMode(FloatControl::Word control) : control_(control) {}

    FloatControl::Word control_;
};

class StandardNumbers {
  public:
    StandardNumbers() : before_(FloatMode::current()) { FloatMode::standard().set(); }
    ~StandardNumbers() { before_.set(); }
    StandardNumbers(const StandardNumbers&) = delete;
    StandardNumbers& operator=(const StandardNumbers&) = delete;

  private:
    FloatMode before_;
};

}  // namespace inkling
