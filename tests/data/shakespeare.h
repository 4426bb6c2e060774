// Tiny Shakespeare, if the machine has it beside the checkout:
//   const std::string text = shakespeare();     // else skips the test
#pragma once

namespace inkling::testing {

inline std::string shakespeare() {
    const std::filesystem::path path = tests_path("../../shared/data/tinyshakespeare.txt");
    if (!std::filesystem::exists(path)) SKIP_TEST(path.string() << " is not here");
    return formats::read_file(path);
}

}  // namespace inkling::testing
