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
    const auto source_model = std::make_shared<Transformer<float>>(from, std::nullopt);
    source_model->share(model);
    result->read_rows = [source_model](const ParameterSpec& p, std::size_t begin, std::size_t end) {
        const NoGrad no_grad;
        const ParameterSpec source{p.name == gate ? up : p.name, p.slot, p.layer, p.shape, p.kind, p.initial};
        if (is_norm(p.name)) return Array<float>({end - begin}, 1.0f);  // the gain
        Array<float> values = (p.name == query || p.name == key) ? source_model->values(source).clone()
                                                                 : source_model->rows(source, begin, end).clone();
        if (p.name == token_table)
            values = rms_norm(Tensor<float>(values), {}, source_model->config.norm_epsilon).value().clone();
        if (p.name == query || p.name == key) {
            swap_halves(values, source_model->config.head_size());
            values = values.sliced(0, begin, end).clone();
        }
        if (p.name == gate) values *= kSharpness;
        if (p.name == up) values *= 1 / kShare;
        if (p.name == down) values *= kShare / kSharpness;
        return values;
    };
    result->eval();
    return result;
}

}  // namespace inkling::models
