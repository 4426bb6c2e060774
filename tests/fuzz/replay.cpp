// Runs a fuzz target over files and folders of inputs, without a fuzzer: so that targets keep building and what a
// fuzzer has found stays found. Where a target has a mutator of its own, each input also goes through it some times.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "formats/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                                                     std::size_t max_size, unsigned seed);

// In place of libFuzzer's: one byte that changes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t) {
    static unsigned number = 0;
    number = number * 1664525 + 1013904223;
    if (size > 0) bytes[number % size] = static_cast<std::uint8_t>(bytes[number % size] ^ (1u << (number >> 16) % 8));
    return size;
}

constexpr std::size_t kMaxMutated = 4096;

int main(int argc, char** argv) {
    std::size_t inputs = 0;
    const auto run = [&](const std::filesystem::path& path) {
        const std::string input = inkling::formats::read_file(path);
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);  // the last line names the input that fails
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
        ++inputs;
        if (!LLVMFuzzerCustomMutator || input.size() > kMaxMutated) return;
        std::vector<std::uint8_t> bytes(kMaxMutated);
        std::size_t size = input.size();
        for (unsigned i = 0; i < 500; ++i) {
            if (i % 20 == 0) std::copy_n(input.begin(), size = input.size(), bytes.begin());
            size = LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), i);
            LLVMFuzzerTestOneInput(bytes.data(), size);
        }
    };
    for (int i = 1; i < argc; ++i) {
        if (!std::filesystem::is_directory(argv[i])) {
            run(argv[i]);
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) run(entry.path());
    }
    std::printf("%zu inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
}
