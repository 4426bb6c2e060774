#include "models/gpt.h"

#include <cmath>

#include "engine/ops.h"
#include "models/run_blocks.h"
#include "nn/init.h"

namespace inkling::models {

template <class T>
Block<T>::Block(const GPTConfig& c)
    : ln_1(c.n_embd, c.bias, c.layer_norm_epsilon),
      ln_2(c.n_embd, c.bias, c.layer_norm_epsilon),
      attn(typename nn::MultiHeadAttention<T>::Packed{c.n_embd, c.block_size, c.n_head, c.dropout, c.bias}),
      mlp(c.n_embd, 4 * c.n_embd, c.dropout, c.bias),
      dropout(c.dropout) {}

template <class T>
Tensor<T> Block<T>::forward(const Tensor<T>& x_in, Tensor<T>* weights) const {
    const auto wanted = weights ? nn::Weights::keep : nn::Weights::none;
    const nn::Attended<T> attended = attn.forward(ln_1.forward(x_in), wanted);
    if (weights) *weights = attended.weights;
    const Tensor<T> x = add(x_in, dropout.forward(attended.output));
    return add(x, mlp.forward(ln_2.forward(x)));
}

template <class T>
void Block<T>::visit(const nn::Visitor<T>& v) {
    v("ln_1", ln_1);
    v("attn", attn);
    v("ln_2", ln_2);
    v("mlp", mlp);
    v("dropout", dropout);
}

namespace {

template <class T>
void init_as_gpt2(GPT<T>& model) {
    const double projection = 0.02 / std::sqrt(2.0 * static_cast<double>(model.config.n_layer));
    for (auto& [name, p] : model.parameters()) {
        if (p.rank() >= 2) {
            nn::fill_normal(p, name.ends_with("c_proj.weight") ? projection : 0.02);
        } else if (name.ends_with(".bias")) {
            Array<T>& values = p.value_in_place();
            std::fill_n(values.data(), values.size(), T{0});
        }
    }
}

}  // namespace

template <class T>
GPT<T>::GPT(const GPTConfig& c)
    : LanguageModel<T>(c),
      wte(c.vocab_size, c.n_embd),
      wpe(c.block_size, c.n_embd),
      dropout(c.dropout),
      ln_f(c.n_embd, c.bias, c.layer_norm_epsilon) {
    for (std::size_t i = 0; i < c.n_layer; ++i) blocks.push_back(std::make_unique<Block<T>>(c));
    init_as_gpt2(*this);
}

template <class T>
Tensor<T> GPT<T>::hidden(const IdArray& ids, std::vector<Tensor<T>>* weights) const {
    this->check_ids(ids);
    const Tensor<T> x = dropout.forward(wpe.forward(wte.forward(ids)));  // (B, T, C)
    return ln_f.forward(run_blocks(blocks, x, this->checkpoint_activations, weights));
}

template <class T>
Tensor<T> GPT<T>::logits(const Tensor<T>& x) const {
    return linear(x, wte.weight);
}

template <class T>
Tensor<T> GPT<T>::loss(const IdArray& ids, const IdArray& targets) const {
    return linear_cross_entropy(hidden(ids), wte.weight, targets);
}

template <class T>
void GPT<T>::visit(const nn::Visitor<T>& v) {
    v("transformer.wte", wte);
    v("transformer.wpe", wpe);
    v("transformer.drop", dropout);
    for (std::size_t i = 0; i < blocks.size(); ++i) v("transformer.h." + std::to_string(i), *blocks[i]);
    v("transformer.ln_f", ln_f);
}

template class Block<float>;
template class Block<double>;
template class GPT<float>;
template class GPT<double>;

}  // namespace inkling::models
