// Prefixes the messages of errors with a file's name:
//   const auto ids = named("notes.txt", [&] { return tokenizer.encode(text); });   // BadInput: "notes.txt: ..."
#pragma once

#include <fmt/format.h>

#include <string>

#include "engine/base/check.h"

namespace inkling::formats {

// Calls body(); its BadInput begins with the name, unless that is empty.
template <class Body>
decltype(auto) named(const std::string& name, const Body& body) {
    try {
        return body();
    } catch (const BadInput& e) {
        if (name.empty()) throw;
        throw BadInput(fmt::format("{}: {}", name, e.what()));
    }
}

}  // namespace inkling::formats
