// Where the tests find what they read and run. The build fills these in, for paths.cpp alone, so that the other test
// files compile to the same objects in every checkout.
#pragma once

#include <string>

namespace inkling::testing {

extern const char* const kProgram;         // build/inkling
extern const char* const kTutorials;       // the folder with the programs of docs/, NAME_tutorial
extern const char* const kExamples;        // the folder with the programs of examples/
extern const char* const kFailAllocation;  // the libraries of tests/preload
extern const char* const kFaultyFiles;
extern const char* const kMpirun;  // of the MPI that the program is built for; "": none

extern const bool kSanitized;  // over a library with sanitizers, whose allocators are their own
extern const bool kEmulated;  // by an emulator of another CPU, which is slow and has limits of its own (tests/arm64.sh)

std::string tests_path(const std::string& name);  // of a file below tests/

}  // namespace inkling::testing
