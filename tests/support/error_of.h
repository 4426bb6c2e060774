// The error message of a call:
//   CHECK(error_of([&] { parse_json("[", "a.json"); }) == "a.json: ...");      // a BadInput
//   CHECK(error_of<Error>([&] { options.validate(); }) == "");                 // no error
#pragma once

#include <string>
#include <type_traits>

#include "engine/base/check.h"

namespace inkling::testing {

// The message of the E that call() throws; "" if it throws nothing. If another Error is expected, a BadInput's message
// starts with "bad input: ". Any other exception fails the test.
template <class E = BadInput, class Call>
std::string error_of(const Call& call) {
    try {
        call();
    } catch (const E& e) {
        const bool other = !std::is_base_of_v<BadInput, E> && dynamic_cast<const BadInput*>(&e);
        return (other ? "bad input: " : "") + std::string(e.what());
    }
    return "";
}

}  // namespace inkling::testing
