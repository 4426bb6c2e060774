// A folder for tests of files, and what is written there.
#pragma once

namespace inkling::testing {

struct Folder {
    ScratchFolder scratch;
    fs::path path = scratch.path();
    std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

inline std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 131 % 251);
    return text;
}

}  // namespace inkling::testing
