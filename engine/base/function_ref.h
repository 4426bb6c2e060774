// FunctionRef<R(Args...)>: a reference to any callable, two pointers wide. A function that takes one is compiled once,
// not once per lambda.
//   void each(std::size_t n, FunctionRef<void(std::size_t)> body);   each(3, [&](std::size_t i) { ... });
// The callable must outlive it: use it for parameters, never store it.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace inkling {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
  public:
    template <class F>
    requires(!std::same_as<F, FunctionRef>) && std::is_invocable_r_v<R, const F&, Args...> FunctionRef(
                                                   const F& f)  // NOLINT: implicit on purpose
        : object_(&f),
    call_([](const void* object, Args... args) -> R {
        return (*static_cast<const F*>(object))(std::forward<Args>(args)...);
    }) {}

    R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

  private:
    const void* object_;
    R (*call_)(const void*, Args...);
};

}  // namespace inkling
