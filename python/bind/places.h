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

// The arguments of a function under NumPy's names. No axis is a new last one of size 1.
inline bool no_axis(const ArrayAxes& x) { return x.none; }
bool no_axis(const auto&) { return false; }
inline Axes given(const ArrayAxes& x, bool none) { return none ? Axes(-1) : x.axes; }
inline bool given(bool keep_axes, bool none) { return keep_axes && !none; }
inline TensorArgument given(const TensorArgument& x, bool none) {
    return none ? TensorArgument{visit(*x.tensor, [](auto& t) { return AnyTensor(unsqueeze(t, -1)); })} : x;
}
const auto& given(const auto& x, bool) { return x; }

template <class F>
auto with_array_axes(const F& f) {
    return [&]<class R, class... A>(R (F::*)(A...) const) {
        if constexpr ((std::is_same_v<A, Axes> || ...)) {
            return [f](std::conditional_t<std::is_same_v<A, Axes>, ArrayAxes, A>... arguments) {
                const bool none = (no_axis(arguments) || ...);
                return f(given(arguments, none)...);
            };
        } else {
            return f;
        }
    }(&F::operator());
}

// Defines a function once for each set of names.
template <class Place, class F, class... Extra>
void define_with_names(Place& place, const char* name, const F& f, const char* doc, const Extra&... extra) {
    const auto function = python_function(name, f);
    place.def(name, function, doc, extra...);
    const auto define_as = [&](const char* ArgumentName::*names, const auto& g, int least) {
        int count = 0;
        (renamed(extra, names, count), ...);
        if (count >= least) place.def(name, g, "", renamed(extra, names, count)...);
    };
    define_as(&ArgumentName::numpy, with_array_axes(function), 1);
    define_as(&ArgumentName::torch, function, 1);
    define_as(&ArgumentName::torch_axis, function, 2);
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
