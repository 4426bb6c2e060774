#include "models/nanochat.h"

#include <cmath>

#include "engine/ops.h"
#include "models/run_blocks.h"
#include "nn/init.h"

namespace inkling::models {

template <class T>
Tensor<T> NanoChatMLP<T>::forward(const Tensor<T>& x) const {
    return fc2.forward(squared_relu(fc1.forward(x)));
}

template <class T>
NanoChatBlock<T>::NanoChatBlock(const GPTConfig& c)
    : self_attn(
          {c.n_embd, c.block_size, c.n_head, c.kv_heads(), c.dropout, c.bias, c.rope_theta, c.layer_norm_epsilon}),
      mlp(c.n_embd, c.inner()),
      eps(c.layer_norm_epsilon) {}

template <class T>
Tensor<T> NanoChatBlock<T>::forward(const Tensor<T>& x_in, Tensor<T>* weights) const {
    const auto wanted = weights ? nn::Weights::keep : nn::Weights::none;
    const nn::Attended<T> attended = self_attn.forward(rms_norm(x_in, {}, eps), wanted);
    if (weights) *weights = attended.weights;
    const Tensor<T> x = add(x_in, attended.output);
    return add(x, mlp.forward(rms_norm(x, {}, eps)));
}

namespace {

template <class T>
void init_as_nanochat(NanoChat<T>& model) {
    const double projection = 0.02 / std::sqrt(2.0 * static_cast<double>(model.config.n_layer));
    for (auto& [name, p] : model.parameters()) {
        if (p.rank() >= 2) {
            const bool back = name.ends_with("o_proj.weight") || name.ends_with("fc2.weight");
            nn::fill_normal(p, back ? projection : 0.02);
        } else {
            Array<T>& values = p.value_in_place();
            std::fill_n(values.data(), values.size(), T{0});
        }
    }
}

}  // namespace

template <class T>
NanoChat<T>::NanoChat(const GPTConfig& c)
    : LanguageModel<T>(c), embed_tokens(c.vocab_size, c.n_embd), lm_head(c.n_embd, c.vocab_size, false) {
    for (std::size_t i = 0; i < c.n_layer; ++i) layers.push_back(std::make_unique<NanoChatBlock<T>>(c));
    init_as_nanochat(*this);
}

template <class T>
Tensor<T> NanoChat<T>::hidden(const IdArray& ids, std::vector<Tensor<T>>* weights) const {
    this->check_ids(ids);
    const double eps = this->config.layer_norm_epsilon;
    const Tensor<T> x = rms_norm(embed_tokens.forward(ids), {}, eps);  // (B, T, C)
    return rms_norm(run_blocks(layers, x, this->checkpoint_activations, weights), {}, eps);
}

template <class T>
Tensor<T> NanoChat<T>::logits(const Tensor<T>& x) const {
    const Tensor<T> z = lm_head.forward(x);
    return this->config.softcap > 0 ? softcap(z, this->config.softcap) : z;
}

template <class T>
Tensor<T> NanoChat<T>::loss(const IdArray& ids, const IdArray& targets) const {
    return linear_cross_entropy(hidden(ids), lm_head.weight, targets, kIgnore, 0, this->config.softcap);
}

template <class T>
void NanoChat<T>::visit(const nn::Visitor<T>& v) {
    v("model.embed_tokens", embed_tokens);
    for (std::size_t i = 0; i < layers.size(); ++i) v("model.layers." + std::to_string(i), *layers[i]);
    v("lm_head", lm_head);
}

template class NanoChatMLP<float>;
template class NanoChatMLP<double>;
template class NanoChatBlock<float>;
template class NanoChatBlock<double>;
template class NanoChat<float>;
template class NanoChat<double>;

}  // namespace inkling::models
