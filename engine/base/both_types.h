// Compiles function templates for float and double, at the end of the file that defines them:
//   INKLING_BOTH_TYPES(exp<T>, log<T>);
// An explicit instantiation would repeat each signature. An overloaded template needs one, to name the overload.
#pragma once

#include <tuple>
#include <utility>

namespace inkling {

template <class F>
constexpr auto of_both_types(const F& functions) {
    return std::pair(functions(float{}), functions(double{}));
}

}  // namespace inkling

// The compiler emits functions whose addresses are kept.
#define INKLING_BOTH_TYPES(...) INKLING_KEEP(__COUNTER__, __VA_ARGS__)
#define INKLING_KEEP(number, ...) INKLING_KEEP_AS(number, __VA_ARGS__)  // with the counter's number
#define INKLING_KEEP_AS(number, ...)                    \
    [[gnu::used]] static constexpr auto kept_##number = \
        of_both_types([]<class T>(T) { return std::make_tuple(__VA_ARGS__); })
