// A fuzz target reads any bytes, and aborts if the reader does something wrong:
//   FUZZ_TARGET(jinja) { ...; return 0; }      // const std::uint8_t* bytes, std::size_t size
// run.sh compiles it for libFuzzer. The test program compiles it as a test of the inputs in corpus/jinja, so that bugs
// that a fuzzer found do not return.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engine/base/check.h"

using namespace inkling;

// Calls call(), which may refuse its input: with an E of one short line.
template <class E = inkling::BadInput, class Call>
void refuse_in_a_line(const Call& call) {
    try {
        call();
    } catch (const E& e) {
        if (std::strchr(e.what(), '\n') || std::strlen(e.what()) > 4000) std::abort();
    }
}

#ifdef INKLING_FUZZER

#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)

#else

#include <string>

#include "tests/catch.h"

namespace inkling::testing {

void replay(const std::string& name, int (*target)(const std::uint8_t* bytes, std::size_t size));

}  // namespace inkling::testing

#define FUZZ_TARGET(name)                                                                                 \
    static int fuzz_##name(const std::uint8_t* bytes, std::size_t size);                                  \
    TEST_CASE("fuzz: known inputs of " #name, "[fuzz]") { inkling::testing::replay(#name, fuzz_##name); } \
    static int fuzz_##name(const std::uint8_t* bytes, std::size_t size)

#endif
