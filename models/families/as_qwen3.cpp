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

Array<float> scaled(const ConstArray<float>& x, float factor) {
    Array<float> y = x.clone();
    for (float& v : y) v *= factor;
    return y;
}

// Rows (H, 2, d / 2) -> those of the second half of each head before those of the first.
Array<float> halves_swapped(const ConstArray<float>& x, std::size_t head_size) {
    const std::size_t half = head_size / 2 * (x.size() / x.dim(0));  // numbers of half a head
    Array<float> y = x.clone();
    for (float* head = y.data(); head != y.data() + y.size(); head += 2 * half)
        std::swap_ranges(head, head + half, head + half);
    return y;
}

}  // namespace

std::unique_ptr<Transformer<float>> as_qwen3(const Transformer<float>& model) {
    const Architecture& from = model.config;
    check<BadInput>(!from.token_shift,
                    "{} shifts tokens, which neither a Qwen 3 nor llama.cpp does: train with --arch nanochat for these",
                    from.family);
    check<BadInput>(from.family == "nanochat", "a {} cannot be written as qwen3: nanochat can", from.family);
    Architecture to = family("qwen3").defaults(from.qkv_bias);
    to.has_bos = from.has_bos, to.end_tokens = from.end_tokens, to.begin_token = from.begin_token;
    to.vocab_size = from.vocab_size, to.block_size = from.block_size;
    to.n_layer = from.n_layer, to.n_embd = from.n_embd, to.n_inner = from.inner();
    to.n_head = from.n_head, to.n_kv_head = from.n_kv_head;
    to.dropout = from.dropout, to.norm_epsilon = from.norm_epsilon;
    to.rope_theta = from.rope_theta, to.rope = from.rope;
    auto result = std::make_unique<Transformer<float>>(to, std::nullopt);
    const NoGrad no_grad;
    for (const ParameterSpec& p : parameters(to)) {
        const Part source = p.part == Part::gate ? Part::up : p.part;
        const Weight<float>& weight = model.at({source, p.slot, p.layer, p.shape, p.kind, p.initial});
        Array<float> values(p.shape);
        result->at(p) = Tensor<float>(values, true);
        if (!weight.defined()) {  // the gain of a norm
            std::fill_n(values.data(), values.size(), 1.0f);
            continue;
        }
        const ConstArray<float> own = weight.values();
        switch (p.part) {
            case Part::token_table:
                copy_into(values, rms_norm(Tensor<float>(own), {}, from.norm_epsilon).value());
                break;
            case Part::query:
            case Part::key:
                copy_into(values, halves_swapped(own, from.head_size()));
                break;
            case Part::gate:
                copy_into(values, scaled(own, kSharpness));
                break;
            case Part::up:
                copy_into(values, scaled(own, 1 / kShare));
                break;
            case Part::down:
                copy_into(values, scaled(own, kShare / kSharpness));
                break;
            default:
                copy_into(values, own);
        }
    }
    result->eval();
    return result;
}

}  // namespace inkling::models
