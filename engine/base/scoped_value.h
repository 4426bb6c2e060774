// Sets a variable, for example of this thread, until the end of the scope.
//   const ScopedValue with(depth, depth + 1);
#pragma once

#include <type_traits>
#include <utility>

namespace inkling {

template <class T>
class ScopedValue {
  public:
    ScopedValue(T& variable, std::type_identity_t<T> value)
        : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
    ~ScopedValue() { variable_ = std::move(before_); }
    ScopedValue(const ScopedValue&) = delete;
    ScopedValue& operator=(const ScopedValue&) = delete;

  private:
    T& variable_;
    T before_;
};

}  // namespace inkling
