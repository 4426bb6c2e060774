// Runs a fuzz target over files and folders of inputs, without a fuzzer: so that targets keep building and what a
// fuzzer has found stays found.
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "formats/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

int main(int argc, char** argv) {
    std::size_t inputs = 0;
    const auto run = [&](const std::filesystem::path& path) {
        const std::string input = inkling::formats::read_file(path);
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);  // the last line names the input that fails
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
        ++inputs;
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
