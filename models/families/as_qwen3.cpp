//   norm of embeddings                the table's rows, normed: the head is a matrix of its own
//   norms without gains               gains of 1
//   heads normed after the rotation   before it: a rotation keeps lengths
//   rotated clockwise                 halves of each head's query and key swapped, which changes no product of the two
//   relu(x)^2                         silu(S x) x / S, which is x^2 sigmoid(S x)
#include "models/families/as_qwen3.h"

#include "engine/fused/norm.h"
#include "models/families/family.h"

namespace inkling::models {
namespace {

// x^2 sigmoid(S x) differs from relu(x)^2 by less than 0.5 / S^2. The 1 / S is shared between up and down, so that
// neither has numbers that float16 is too coarse for.
constexpr float kSharpness = 1024, kShare = 32;

// Rows (H, 2, d / 2): swaps the two halves of each head.
void swap_halves(Array<float>& x, std::size_t head_size) {
    const std::size_t half = head_size / 2 * (x.size() / x.dim(0));  // numbers of half a head
    for (float* head = x.data(); head != x.data() + x.size(); head += 2 * half)
        std::swap_ranges(head, head + half, head + half);
}

}  // namespace

std::unique_ptr<Transformer<float>> as_qwen3(const Transformer<float>& model) {
    using enum ParameterName;
    const Architecture& from = model.config;
    check<BadInput>(!from.token_shift,
                    "{} shifts tokens, which neither a Qwen 3 nor llama.cpp does: train with --arch nanochat for these",
                    from.family);
    check<BadInput>(from.family == "nanochat", "a {} cannot be written as qwen3: nanochat can", from.family);
    Architecture to = family("qwen3").defaults(from.qkv_bias);
    to.has_bos = from.has_bos, to.end_tokens = from.end_tokens, to.begin_token = from.begin_token;
    to.vocab_size = from.vocab_size, to.block_size = from.block_size;
    to.n_layer = from.n_layer, to.n_embd = from.n_embd, to.set_inner(from.inner());
    to.n_head = from.n_head, to.n_kv_head = from.n_kv_head;
    to.dropout = from.dropout, to.norm_epsilon = from.norm_epsilon;
    to.rope_theta = from.rope_theta, to.rope = from.rope;
    auto result = std::make_unique<Transformer<float>>(to, std::nullopt);
    const NoGrad no_grad;
    for (const ParameterSpec& p : parameters(to)) {
        const ParameterName source = p.name == gate ? up : p.name;
        const Weight<float>& weight = model.at({source, p.slot, p.layer, p.shape, p.kind, p.initial});
        Array<float> values(p.shape);
        result->at(p) = Tensor<float>(values, true);
        if (!weight.defined()) {  // the gain of a norm
            std::fill_n(values.data(), values.size(), 1.0f);
            continue;
        }
        copy_into(values, weight.values());
        if (p.name == token_table)
            copy_into(values, rms_norm(Tensor<float>(weight.values()), {}, from.norm_epsilon).value());
        if (p.name == query || p.name == key) swap_halves(values, from.head_size());
        if (p.name == gate) values *= kSharpness;
        if (p.name == up) values *= 1 / kShare;
        if (p.name == down) values *= kShare / kSharpness;
    }
    result->eval();
    return result;
}

}  // namespace inkling::models
