// Python functions that a graph keeps, and how Python's garbage collector finds them.
#pragma once

#include "python/bind/any_tensor.h"

namespace inkling::python {

// A Python function that a graph may keep. Calls need the interpreter lock.
class KeptFunction {
  public:
    explicit KeptFunction(nb::object f);
    nb::object operator()(const auto& x) const { return nb::handle(function_)(x); }
    // Lets tensors that alone keep the node report the function to Python's garbage collector.
    void belong_to(const void* node) const;

  private:
    struct Held;
    PyObject* function_;
    std::shared_ptr<Held> held_;
};

// The slots by which Python's garbage collector follows a tensor, and a layer, to the functions that their nodes keep.
extern PyType_Slot tensor_slots[], layer_slots[];

}  // namespace inkling::python
