// Small models of every family for the tests, and weights for them.
//   models::Transformer<float> model(gpt2_shape(11, 2, 2, 16, 8));
//   fill_parameters(model, 0.2, {3, 0});
#pragma once

#include "models/families/family.h"
#include "models/transformer.h"
#include "nn/init.h"

namespace inkling::testing {

inline models::Architecture shape_of(const char* family, std::size_t vocabulary, std::size_t layers, std::size_t heads,
                                     std::size_t width, std::size_t context, double dropout, bool bias) {
    models::Architecture a = models::family(family).defaults(bias);
    a.vocab_size = vocabulary, a.n_layer = layers, a.n_head = heads, a.n_embd = width, a.block_size = context;
    a.dropout = dropout;
    return a;
}

inline models::Architecture gpt2_shape(std::size_t vocabulary, std::size_t layers, std::size_t heads, std::size_t width,
                                       std::size_t context, double dropout = 0, bool bias = true,
                                       double epsilon = 1e-5) {
    models::Architecture a = shape_of("gpt2", vocabulary, layers, heads, width, context, dropout, bias);
    a.norm_epsilon = epsilon;
    return a;
}

// `kv_heads` heads of keys and values serve `heads` of queries.
inline models::Architecture nanochat_shape(std::size_t vocabulary, std::size_t layers, std::size_t heads,
                                           std::size_t kv_heads, std::size_t width, std::size_t context,
                                           double dropout = 0, bool bias = false) {
    models::Architecture a = shape_of("nanochat", vocabulary, layers, heads, width, context, dropout, bias);
    a.n_kv_head = kv_heads;
    return a;
}

inline models::Architecture llama_shape(std::size_t vocabulary, std::size_t layers, std::size_t heads,
                                        std::size_t kv_heads, std::size_t width, std::size_t context,
                                        double dropout = 0, bool bias = false) {
    models::Architecture a = shape_of("llama", vocabulary, layers, heads, width, context, dropout, bias);
    a.n_kv_head = kv_heads;
    return a;
}

// Fills all parameters with N(0, deviation^2), each from its own key.
template <class T>
void fill_parameters(nn::Module<T>& module, double deviation, Generator random) {
    for (auto& [name, p] : module.parameters()) nn::fill(p, nn::Initial::normal(deviation), random);
}

// Fills only matrices; gains and biases keep their values.
template <class T>
void fill_matrices(nn::Module<T>& module, double deviation, Generator random) {
    for (auto& [name, p] : module.parameters())
        if (p.rank() == 2) nn::fill(p, nn::Initial::normal(deviation), random);
}

inline double mean_of(const ConstArray<float>& a) {
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total += static_cast<double>(a.data()[i]);
    return total / static_cast<double>(a.size());
}

// The standard deviation of the elements.
inline double deviation_of(const ConstArray<float>& a) {
    const double mean = mean_of(a);
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total += std::pow(static_cast<double>(a.data()[i]) - mean, 2);
    return std::sqrt(total / static_cast<double>(a.size()));
}

}  // namespace inkling::testing
