// check() throws unless a condition holds. Messages read "op: expected X, got <every shape>: the fix, if known":
//   check(x.rank() > 0, "softmax: the last axis must exist, got shape {}", x.shape());
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace inkling {

// An invalid call: mismatched shapes, a value out of range. Nothing was changed.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Thrown by every op that names an axis which its tensor does not have.
struct AxisError : Error {
    using Error::Error;
};

// Invalid external data: a file, text, model folder or tokenizer.
struct BadInput : Error {
    using Error::Error;
};

template <class E>
[[noreturn]] void throw_error(fmt::string_view message, fmt::format_args args) {
    throw E(fmt::vformat(message, args));
}

// Throws E with the formatted message unless `ok`. The message is built only when thrown.
template <class E = Error, class... Args>
void check(bool ok, fmt::format_string<Args...> message, Args&&... args) {
    if (!ok) [[unlikely]]
        throw_error<E>(message, fmt::make_format_args(args...));
}

}  // namespace inkling
