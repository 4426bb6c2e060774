// engine/ has floors: a file includes only what lies on its own floor or below.
#include <algorithm>
#include <filesystem>
#include <regex>

#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/paths.h"

using inkling::testing::tests_path;

TEST_CASE("floors: nothing in engine/ includes what is above it", "[docs]") {
    const std::vector<std::string> floors = {"base",    "process", "memory", "kernels", "array",    "autograd",
                                             "weights", "ops",     "fused",  "more",    "gradcheck"};
    const std::regex include(R"(#include "engine/(\w+)/)");
    for (auto floor = floors.begin(); floor != floors.end(); ++floor) {
        for (const auto& file : std::filesystem::recursive_directory_iterator(tests_path("../engine/") + *floor)) {
            if (!file.is_regular_file()) continue;
            const std::string code = inkling::formats::read_file(file.path());
            for (std::sregex_iterator at(code.begin(), code.end(), include), end; at != end; ++at) {
                INFO(file.path() << ": " << (*at)[0]);
                CHECK(std::find(floors.begin(), floor + 1, (*at)[1]) != floor + 1);
            }
        }
    }
}
