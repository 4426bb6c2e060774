// Paths of the files that the tests read and run. The build passes them only to paths.cpp, so that the other test files
// compile to the same objects in every checkout.
#pragma once

#include <string>

namespace inkling::testing {

extern const char* const kProgram;         // build/inkling
extern const char* const kTutorials;       // the folder with the programs of docs/, NAME_tutorial
extern const char* const kExamples;        // the folder with the programs of examples/
extern const char* const kFailAllocation;  // the libraries of tests/preload
extern const char* const kFaultyFiles;
extern const char* const kMpirun;  // from the MPI that the program is built for; "": none

extern const bool kSanitized;  // runs with sanitizers, which have their own allocators
// runs in an emulator of another CPU, which is slow and has its own limits (tests/arm64.sh)
extern const bool kEmulated;

std::string tests_path(const std::string& name);  // path of a file below tests/

}  // namespace inkling::testing
