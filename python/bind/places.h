// Defines ops as functions and methods, under all names of their arguments: x.sum(axes=0) and softmax(x, axis=0);
// NumPy's axis=, keepdims=; PyTorch's dim=, keepdim=, or axis=, keepdim=.
#pragma once

#include <cstring>

#include "python/bind/define.h"

namespace inkling::python {

struct ArgumentName {
    const char *own, *numpy, *torch, *torch_axis;
};
inline constexpr ArgumentName kArgumentNames[] = {
    {"axes", "axis", "dim", "axis"}, {"axis", "axis", "dim", "axis"}, {"keep_axes", "keepdims", "keepdim", "keepdim"}};

// An argument under another name; `count` counts the renamed ones.
template <class Extra>
Extra renamed(Extra extra, const char* ArgumentName::*as, int& count) {
    if constexpr (requires { extra.name_; }) {
        for (const ArgumentName& names : kArgumentNames) {
            if (std::strcmp(extra.name_, names.own) != 0) continue;
            count += std::strcmp(names.own, names.*as) != 0;
            extra.name_ = names.*as;
            break;
        }
    }
    return extra;
}

// Calls define() once for each set of names.
template <class Place, class F, class... Extra>
void define_with_names(Place& place, const char* name, const F& f, const char* doc, const Extra&... extra) {
    define(place, name, f, doc, extra...);
    for (const auto as : {&ArgumentName::numpy, &ArgumentName::torch, &ArgumentName::torch_axis}) {
        int count = 0;
        (renamed(extra, as, count), ...);
        if (count > (as == &ArgumentName::torch_axis)) define(place, name, f, "", renamed(extra, as, count)...);
    }
}

// Functions that are also methods of a tensor: softmax(x) and x.softmax().
struct Places {
    nb::module_& m;
    nb::class_<AnyTensor>& c;

    template <class F, class... Extra>
    void operator()(const char* name, const F& f, const char* doc, const Extra&... extra) {
        define_with_names(c, name, f, doc, extra...);
        m.attr(name) = c.attr(name);
    }
};

}  // namespace inkling::python
