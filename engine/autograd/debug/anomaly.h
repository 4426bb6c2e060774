// Names the op in which numbers stop being finite, as torch.autograd.detect_anomaly() does, but in forward too:
//   const DetectAnomaly detect;             // checks every op of this thread, to the end of the scope
//   model.loss(ids, targets).backward();    // throws Anomaly: "layer 3, attention: linear: the first value that ..."
// Each op then costs a pass over its inputs, its value and the gradients of its backward; when off, a test of one flag.
// An op whose inputs hold infinities, for example those of a mask, may have infinities too, but no NaN.
//   const Region region("layer", 3);        // messages about ops in this scope begin with "layer 3"
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/function_ref.h"
#include "engine/base/scoped_value.h"

namespace inkling {

template <class T>
class ConstArray;
template <class T>
class Tensor;
template <class T>
struct Node;
template <class T>
class Gradients;

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

    class Pause {  // for ops that are parts of another, which is checked as a whole
        ScopedValue<int> scope_{depth, 0};
    };

  private:
    static constinit thread_local int depth;  // defined only in the library, so that programs share it
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
    static std::string path();  // "layer 3, attention"; "" outside of a region

  private:
    std::string text() const;

    static constinit thread_local const Region* innermost;
    const char* name_;
    std::size_t number_;
    const Region* outer_;
};

// The first element that is not finite, "nan at (7, 0) of (65, 128)", or "".
template <class T>
std::string first_not_finite(const ConstArray<T>& values);
template <class T>
double largest_magnitude(const ConstArray<T>& values);  // of the finite elements

// inputs() and record() call these while active(): they note the inputs of an op, and check its value. `node` is the
// op's node, if it has one.
namespace detect {
struct Input {
    double largest;
    bool infinite;
    std::string bad;  // the first element of a leaf that is not finite
};
template <class T>
void note_input(const Tensor<T>& x, std::vector<Input>& inputs);
template <class T>
void check_value(const char* op, const ConstArray<T>& value, const Node<T>* node, const std::vector<Input>& inputs);
// Runs a node's backward with dy and, while active(), checks the gradients that it adds.
template <class T>
void check_gradients(const Node<T>& node, const ConstArray<T>& dy, const Gradients<T>& grads,
                     FunctionRef<void()> backward);
}  // namespace detect

}  // namespace inkling
