// Initial values of parameters.
//   initialize(model, random, {{"*bias", Initial::constant(0)},
//                              {"*c_proj.weight", Initial::normal(0.01)},
//                              {"*", Initial::normal(0.02)}});
#pragma once

#include <string>
#include <vector>

#include "engine/base/random.h"
#include "nn/module.h"

namespace inkling::nn {

// Parameters: leaves that want a gradient.
template <class T>
Tensor<T> parameter(const Shape& shape, T value);
template <class T>
Tensor<T> normal_parameter(const Shape& shape, double deviation, const RandomKey& key);  // N(0, deviation^2)
template <class T>
Tensor<T> uniform_parameter(const Shape& shape, double bound, const RandomKey& key);  // uniform in [-bound, bound)

// Overwrites a parameter with N(0, deviation^2).
template <class T>
void fill_normal(Tensor<T>& p, double deviation, const RandomKey& key);

// How a parameter starts.
struct Initial {
    static Initial constant(double value) { return {value, Kind::constant}; }
    static Initial normal(double deviation) { return {deviation, Kind::normal}; }  // N(0, deviation^2)
    static Initial uniform(double bound) { return {bound, Kind::uniform}; }        // in [-bound, bound)

    double size;
    enum class Kind { constant, normal, uniform } kind;
};
struct InitialOf {
    std::string names;  // a shell's pattern: * stands for any characters
    Initial initial;
};

// Overwrites each parameter as the first rule says that its name fits; those that fit none keep their values. Random
// ones take a key of `random` each, in the order of visit(). A rule that no name fits is an error.
template <class T>
void initialize(Module<T>& module, Generator& random, const std::vector<InitialOf>& rules);

}  // namespace inkling::nn
