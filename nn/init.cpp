#include "nn/init.h"

#include <fnmatch.h>

#include "engine/base/parallel.h"

namespace inkling::nn {

namespace {

template <class T, class Draw>
void fill(Tensor<T>& p, const Draw& draw) {
    T* const data = p.value_in_place().data();
    parallel_for(p.size(), kGrain / 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) data[i] = static_cast<T>(draw(i));
    });
}

template <class T>
void fill_uniform(Tensor<T>& p, double bound, const RandomKey& key) {
    fill(p, [&](std::size_t i) { return bound * (2 * random_uniform(key, i) - 1); });
}

}  // namespace

template <class T>
void fill_normal(Tensor<T>& p, double deviation, const RandomKey& key) {
    fill(p, [&](std::size_t i) { return deviation * random_normal(key, i); });
}

template <class T>
Tensor<T> parameter(const Shape& shape, T value) {
    return Tensor<T>(Array<T>(shape, value), true);
}

template <class T>
Tensor<T> normal_parameter(const Shape& shape, double deviation, const RandomKey& key) {
    Tensor<T> p(Array<T>(shape), true);
    fill_normal(p, deviation, key);
    return p;
}

template <class T>
Tensor<T> uniform_parameter(const Shape& shape, double bound, const RandomKey& key) {
    Tensor<T> p(Array<T>(shape), true);
    fill_uniform(p, bound, key);
    return p;
}

template <class T>
void initialize(Module<T>& module, Generator& random, const std::vector<InitialOf>& rules) {
    const auto parameters = module.parameters();
    const auto fits = [](const InitialOf& rule, const std::string& name) {
        return ::fnmatch(rule.names.c_str(), name.c_str(), 0) == 0;
    };
    for (const InitialOf& rule : rules) {  // before anything is changed
        check(std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return fits(rule, p.first); }),
              "initialize: '{}' fits the name of no parameter", rule.names);
    }
    for (auto [name, p] : parameters) {
        const auto rule =
            std::find_if(rules.begin(), rules.end(), [&, &n = name](const auto& r) { return fits(r, n); });
        if (rule == rules.end()) continue;
        const double size = rule->initial.size;
        switch (rule->initial.kind) {
            case Initial::Kind::constant:
                fill(p, [size](std::size_t) { return size; });
                break;
            case Initial::Kind::normal:
                fill_normal(p, size, random.next());
                break;
            case Initial::Kind::uniform:
                fill_uniform(p, size, random.next());
                break;
        }
    }
}

#define INKLING_INSTANTIATE(T)                                                    \
    template void fill_normal(Tensor<T>&, double, const RandomKey&);              \
    template Tensor<T> parameter(const Shape&, T);                                \
    template Tensor<T> normal_parameter(const Shape&, double, const RandomKey&);  \
    template Tensor<T> uniform_parameter(const Shape&, double, const RandomKey&); \
    template void initialize(Module<T>&, Generator&, const std::vector<InitialOf>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling::nn
