#include "tests/paths.h"

namespace inkling::testing {

const char* const kProgram = INKLING_PROGRAM;
const char* const kTutorials = INKLING_TUTORIALS;
const char* const kExamples = INKLING_EXAMPLES;
const char* const kFailAllocation = INKLING_FAIL_ALLOCATION;
const char* const kFaultyFiles = INKLING_FAULTY_FILES;
const char* const kMpirun = INKLING_MPIRUN;

const bool kSanitized = INKLING_SANITIZED;
const bool kEmulated = INKLING_EMULATED;

std::string tests_path(const std::string& name) { return INKLING_TESTS_DIR "/" + name; }

}  // namespace inkling::testing
