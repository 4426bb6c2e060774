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

// The initial value of a parameter.
struct Initial {
    static Initial constant(double value) { return {value, Kind::constant}; }
    static Initial normal(double deviation) { return {deviation, Kind::normal}; }  // N(0, deviation^2)
    static Initial uniform(double bound) { return {bound, Kind::uniform}; }        // in [-bound, bound)

    double size;
    enum class Kind { constant, normal, uniform } kind;
};

// Parameters: leaves with requires_grad. Random values take a key of `random`.
template <class T>
Tensor<T> parameter(const Shape& shape, T value);
template <class T>
Tensor<T> parameter(const Shape& shape, const Initial& initial, Generator& random);

// Overwrites a parameter.
template <class T>
void fill(Tensor<T>& p, const Initial& initial, Generator& random);

struct InitialOf {
    std::string names;  // a shell pattern: * matches any characters
    Initial initial;
};

// Applies to each parameter the first rule whose pattern matches its name; others keep their values. Random values take
// one key each from `random`, in the order of visit(). Throws for a rule that matches no name.
template <class T>
void initialize(Module<T>& module, Generator& random, const std::vector<InitialOf>& rules);

}  // namespace inkling::nn
