// Names the op in which numbers stop being finite, as torch.autograd.detect_anomaly() does, but in forward too:
//   const DetectAnomaly detect;             // while it lives, every op of this thread is checked
//   model.loss(ids, targets).backward();    // throws Anomaly: "layer 3, attention: linear: the first value that ..."
// Each op then costs a pass over its inputs and its value, and over the gradients that its backward gives; otherwise it
// tests one flag. Infinities that masked_fill, where or a constant brings in are none of its matter, until one becomes
// a NaN.
//   const Region region("layer", 3);        // the ops that follow are "layer 3" in such messages, to the scope's end
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/check.h"
#include "engine/base/function_ref.h"

namespace inkling {

template <class T>
class ConstArray;
template <class T>
class Tensor;
template <class T>
struct Node;

struct Anomaly : Error {
    using Error::Error;
};

class DetectAnomaly {
  public:
    DetectAnomaly() { ++depth; }
    ~DetectAnomaly();
    DetectAnomaly(const DetectAnomaly&) = delete;
    DetectAnomaly& operator=(const DetectAnomaly&) = delete;
    static bool active() { return depth > 0; }

  private:
    static constinit thread_local int depth;  // defined in the library alone: a program that uses it has no other one
};

class Region {
  public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    explicit Region(const char* name, std::size_t number = kNone) : name_(name), number_(number), outer_(innermost) {
        innermost = this;
    }
    ~Region() { innermost = outer_; }
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    static std::string path();  // "layer 3, attention"; "": there is none

  private:
    std::string text() const;

    static constinit thread_local const Region* innermost;
    const char* name_;
    std::size_t number_;
    const Region* outer_;
};

// The first element that is not finite, "nan at (7, 0) of (65, 128)"; "": there is none.
template <class T>
std::string first_not_finite(const ConstArray<T>& values);
template <class T>
double largest_magnitude(const ConstArray<T>& values);  // of those that are finite

// For record() and inputs(), while active(): what the op that is next recorded gets, and whether it brings in
// infinities that were asked for; its value, and the node it has, if any.
namespace detect {
template <class T>
void note_input(const Tensor<T>& x);
void allow_infinities();
template <class T>
void check_value(const char* op, const ConstArray<T>& value, const Node<T>* node);
// Runs a node's backward with dy, and checks the gradients that it gives, where active().
template <class T>
void check_gradients(const Node<T>& node, const ConstArray<T>& dy, FunctionRef<void()> backward);
}  // namespace detect

}  // namespace inkling
