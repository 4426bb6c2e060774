// A hook for Tensor::on_grad that only wants to know when the gradient of a leaf is complete. Another one gets a copy
// of the gradient, which costs as much as adding it up.
//   p.on_grad(GradNotice<float>{[&] { send(p.grad()); }});
#pragma once

#include <functional>

#include "engine/array/array.h"

namespace inkling {

template <class T>
struct GradNotice {
    std::function<void()> ready;
    void operator()(Array<T>&) const { ready(); }
};

}  // namespace inkling
