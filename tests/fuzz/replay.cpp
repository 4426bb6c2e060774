// Runs a fuzz target over the inputs of its corpus, and over changes of each safetensors file.
#include <filesystem>
#include <random>

#include "formats/files/file.h"
#include "tests/fuzz/target.h"
#include "tests/paths.h"

namespace inkling::testing {

void replay(const std::string& name, int (*target)(const std::uint8_t* bytes, std::size_t size)) {
    std::minstd_rand random;
    std::size_t inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(tests_path("fuzz/corpus/" + name))) {
        INFO(entry.path());
        const std::string input = formats::read_file(entry.path());
        const auto run = [&](const std::string& bytes) {
            CHECK(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) == 0);
        };
        run(input);
        ++inputs;
        if (name != "safetensors" || input.empty()) continue;
        std::string changed;
        for (int i = 0; i < 500; ++i) {  // a bit more each time, and from the beginning after 20
            if (i % 20 == 0) changed = input;
            char& byte = changed[random() % changed.size()];
            byte = static_cast<char>(byte ^ (1 << random() % 8));
            run(changed);
        }
    }
    CHECK(inputs > 0);
}

}  // namespace inkling::testing
