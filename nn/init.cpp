#include "nn/init.h"

#include <fnmatch.h>

#include "engine/base/parallel.h"

namespace inkling::nn {

template <class T>
void fill(Tensor<T>& p, const Initial& initial, Generator& random) {
    const double size = initial.size;
    const auto draw = [&](const auto& number) {
        fill_numbers(p.size(), kGrain / 16, p.value_in_place().data(), number);
    };
    if (initial.kind == Initial::Kind::constant) return draw([=](std::size_t) { return size; });
    const RandomKey key = random.next();
    if (initial.kind == Initial::Kind::normal) return draw([=](std::size_t i) { return size * random_normal(key, i); });
    draw([=](std::size_t i) { return size * (2 * random_uniform(key, i) - 1); });
}

template <class T>
Tensor<T> parameter(const Shape& shape, T value) {
    return Tensor<T>(Array<T>(shape, value), true);
}

template <class T>
Tensor<T> parameter(const Shape& shape, const Initial& initial, Generator& random) {
    Tensor<T> p(Array<T>(shape), true);
    fill(p, initial, random);
    return p;
}

template <class T>
void initialize(Module<T>& module, Generator& random, const std::vector<InitialOf>& rules) {
    const auto parameters = module.parameters();
    const auto fits = [](const InitialOf& rule, const std::string& name) {
        return ::fnmatch(rule.names.c_str(), name.c_str(), 0) == 0;
    };
    for (const InitialOf& rule : rules) {  // before any value changes
        check(std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return fits(rule, p.first); }),
              "initialize: '{}' fits the name of no parameter", rule.names);
    }
    for (auto [name, p] : parameters) {
        const auto rule =
            std::find_if(rules.begin(), rules.end(), [&, &n = name](const auto& r) { return fits(r, n); });
        if (rule != rules.end()) fill(p, rule->initial, random);
    }
}

#define INKLING_INSTANTIATE(T)                                              \
    template void fill(Tensor<T>&, const Initial&, Generator&);             \
    template Tensor<T> parameter(const Shape&, T);                          \
    template Tensor<T> parameter(const Shape&, const Initial&, Generator&); \
    template void initialize(Module<T>&, Generator&, const std::vector<InitialOf>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling::nn
