// Documents in lines, and what they hold.
#pragma once

#include "data/text/corpus.h"

namespace inkling::testing {

// Parses one line, which may be written on several lines here.
inline Example parsed(std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    return read_examples(line).list.at(0);
}

// "user: a | assistant: b (not learned)"
inline std::string shown(const Example& d) {
    std::string all;
    for (const ChatMessage& m : d.parts)
        all +=
            fmt::format("{}{}: {}{}", all.empty() ? "" : " | ", m.role, m.content, m.learned ? "" : " (not learned)");
    return all;
}
inline std::string shown(const std::string& line) { return shown(parsed(line)); }

}  // namespace inkling::testing
