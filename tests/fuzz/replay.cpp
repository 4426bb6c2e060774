// Runs a fuzz target over the inputs of its corpus. Also runs several changes of each safetensors file.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "formats/files/file.h"
#include "tests/fuzz/target.h"
#include "tests/paths.h"

// Replaces libFuzzer's mutator: changes one byte.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t) {
    static unsigned number = 0;
    number = number * 1664525 + 1013904223;
    if (size > 0) bytes[number % size] = static_cast<std::uint8_t>(bytes[number % size] ^ (1u << (number >> 16) % 8));
    return size;
}

namespace inkling::testing {

void replay(const std::string& name, int (*target)(const std::uint8_t* bytes, std::size_t size)) {
    constexpr std::size_t kMaxMutated = 4096;
    std::size_t inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(tests_path("fuzz/corpus/" + name))) {
        INFO(entry.path());
        const std::string input = formats::read_file(entry.path());
        CHECK(target(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()) == 0);
        ++inputs;
        if (name != "safetensors" || input.size() > kMaxMutated) continue;
        std::vector<std::uint8_t> bytes(kMaxMutated);
        std::size_t size = 0;
        for (unsigned i = 0; i < 500; ++i) {
            if (i % 20 == 0) size = input.copy(reinterpret_cast<char*>(bytes.data()), kMaxMutated);
            size = LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), i);
            target(bytes.data(), size);
        }
    }
    CHECK(inputs > 0);
}

}  // namespace inkling::testing
