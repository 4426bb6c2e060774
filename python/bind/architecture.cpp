// Model.config: an Architecture as a dict.
#include "models/architecture.h"

#include "models/families/config_keys.h"
#include "python/bind/bind.h"

namespace inkling::models {

constexpr auto names(NormKind) { return name_table<NormKind>({{NormKind::layer, "layer"}, {NormKind::rms, "rms"}}); }
constexpr auto names(Positions) {
    return name_table<Positions>({{Positions::learned, "learned"}, {Positions::rotary, "rotary"}});
}
constexpr auto names(HeadNorm) {
    return name_table<HeadNorm>({{HeadNorm::none, "none"},
                                 {HeadNorm::before_rotary, "before_rotary"},
                                 {HeadNorm::after_rotary, "after_rotary"}});
}
constexpr auto names(RopeScaling) {
    return name_table<RopeScaling>(
        {{RopeScaling::none, "none"}, {RopeScaling::linear, "linear"}, {RopeScaling::llama3, "llama3"}});
}

}  // namespace inkling::models

namespace inkling::python {

nb::dict config_of(const models::Architecture& a) {
    nb::dict d, rope;
    rope["scaling"] = name_of(a.rope.scaling), rope["factor"] = a.rope.factor;
    rope["low"] = a.rope.low, rope["high"] = a.rope.high, rope["original"] = a.rope.original;
    d["family"] = a.family, d["vocab_size"] = a.vocab_size, d["n_layer"] = a.n_layer;
    d["n_head"] = a.n_head, d["n_kv_head"] = a.kv_heads(), d["head_dim"] = a.head_size();
    d["n_embd"] = a.n_embd, d["n_inner"] = a.inner(), d["block_size"] = a.block_size;
    d["has_bos"] = a.has_bos, d["begin_token"] = a.begin_token, d["end_tokens"] = a.end_tokens;
    d["dropout"] = a.dropout, d["residual_dropout"] = a.residual_dropout;
    d["norm"] = name_of(a.norm), d["norm_gain"] = a.norm_gain, d["norm_bias"] = a.norm_bias;
    d["norm_epsilon"] = a.norm_epsilon, d["norm_gain_plus_one"] = a.norm_gain_plus_one;
    d["post_norms"] = a.post_norms, d["embedding_norm"] = a.embedding_norm;
    d["scaled_embedding"] = a.scaled_embedding, d["token_shift"] = a.token_shift;
    d["positions"] = name_of(a.positions), d["rope_theta"] = a.rope_theta, d["rope_clockwise"] = a.rope_clockwise;
    d["rotary_part"] = a.rotary_part, d["rope"] = rope, d["local_rope_theta"] = a.local_rope_theta;
    d["head_norm"] = name_of(a.head_norm), d["head_norm_gain"] = a.head_norm_gain;
    d["packed_qkv"] = a.packed_qkv, d["qkv_bias"] = a.qkv_bias;
    d["attention_bias"] = a.attention_bias, d["mlp_bias"] = a.mlp_bias;
    d["activation"] = models::activation_name(a.activation), d["gated"] = a.gated;
    d["parallel_residual"] = a.parallel_residual, d["scale_by_layer"] = a.scale_by_layer;
    d["score_width"] = a.score_size(), d["window"] = a.window, d["global_every"] = a.global_every;
    d["tied_head"] = a.tied_head, d["softcap"] = a.softcap;
    return d;
}

}  // namespace inkling::python
