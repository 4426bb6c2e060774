// How a thread treats floating point numbers: rounding, and whether those too small to be normal count as zero (FTZ and
// DAZ, which programs that are built with -ffast-math turn on). It is a matter of each thread.
//   const StandardNumbers scope;   // nearest, and small numbers as they are, to the end of the scope: the same results
//                                  // in every program
// parallel_for() gives its threads the mode of the thread that calls it.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace inkling {

class FloatMode {
  public:
    static FloatMode current() {
        FloatMode mode;
#if defined(__x86_64__)
        mode.control_ = _mm_getcsr() & ~kFlags;
#else
        std::fegetenv(&mode.control_);
#endif
        return mode;
    }
    static FloatMode standard() {
        FloatMode mode;
#if defined(__x86_64__)
        mode.control_ = 0x1F80;  // every exception masked, nothing else
#else
        std::fegetenv(&mode.control_);
        const FloatMode before = mode;
        std::fesetenv(FE_DFL_ENV);
        std::fegetenv(&mode.control_);
        before.set();
#endif
        return mode;
    }
    void set() const {  // of the thread that calls it
#if defined(__x86_64__)
        const unsigned now = _mm_getcsr();
        if ((now & ~kFlags) != control_) _mm_setcsr(control_ | (now & kFlags));
#else
        std::fesetenv(&control_);
#endif
    }

  private:
#if defined(__x86_64__)
    static constexpr unsigned kFlags = 0x3F;  // of exceptions that came
    unsigned control_ = 0;
#else
    std::fenv_t control_ = {};
#endif
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
