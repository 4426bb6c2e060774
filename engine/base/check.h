// The one way to throw. Messages read "op: what is required, got <every shape>", and how to mend it when that is known:
//   check(x.rank() > 0, "softmax: the last axis must exist, got shape {}", x.shape());
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace inkling {

// A call that cannot be carried out: shapes that do not fit, a value out of range. Nothing was changed.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What was read from outside (file, text, model folder, tokenizer) is not what it should be.
struct BadInput : Error {
    using Error::Error;
};

template <class E>
[[noreturn]] void throw_error(fmt::string_view message, fmt::format_args args) {
    throw E(fmt::vformat(message, args));
}

// Throws E, formatted, unless `ok`. The message is built only when it is needed.
template <class E = Error, class... Args>
void check(bool ok, fmt::format_string<Args...> message, Args&&... args) {
    if (!ok) [[unlikely]]
        throw_error<E>(message, fmt::make_format_args(args...));
}

}  // namespace inkling
