// The attention family of nn/attention/.
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/attention/scores.h"
#include "nn/attention/self_attention.h"
#include "python/bind/bind.h"
#include "python/bind/layers.h"

namespace inkling::nn {

constexpr auto names(CausalMask) {
    return name_table<CausalMask>(
        {{CausalMask::fill_minus_infinity, "fill_minus_infinity"}, {CausalMask::renormalize, "renormalize"}});
}

}  // namespace inkling::nn

namespace inkling::python {
namespace {

using Size = std::size_t;

nn::NeedWeights wanted(bool weights) { return weights ? nn::NeedWeights::yes : nn::NeedWeights::no; }

// Uses a scoring function that Python holds in an Attention.
template <class T>
struct HeldScore : nn::Score<T> {
    explicit HeldScore(const AnyModule& held) : module(held) {}
    nn::Score<T>& score() const { return dynamic_cast<nn::Score<T>&>(module.module<T>()); }
    Tensor<T> forward(const Tensor<T>& q, const Tensor<T>& k) const override { return score().forward(q, k); }
    void visit(const nn::Visitor<T>& v) override { score().visit(v); }
    AnyModule module;
};

template <template <class> class S, class... A, class... Extra>
void score(nb::module_& m, const char* name, const char* doc, const Extra&... extra) {
    forward(layer<S, A...>(m, name, doc, extra...), "Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)", "Q"_a, "K"_a);
}

void bind_functions(nb::module_& m) {
    define(m, "simple_self_attention", BOTH(nn::simple_self_attention),
           "softmax(x x^T) x, x (..., L, d); (output, attention weights).", "x"_a);
    define(
        m, "scaled_dot_product_attention",
        []<class T>(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, bool causal, const MaskArray& mask,
                    double dropout_p, const RandomKey& key, std::optional<double> scale,
                    const std::vector<double>& alibi, Masked masked, bool weights) {
            return nn::scaled_dot_product_attention(
                q, k, v, AttentionOptions{scale, causal, mask, dropout_p, key, alibi, masked}, wanted(weights));
        },
        "softmax(q k^T / sqrt(d)) v: q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, Lk, dv) -> (B, H, Lq, dv) and weights "
        "(B, H, Lq, Lk). With weights=False they are never built, and None is returned instead. mask broadcasts to (B, "
        "H, Lq, Lk), 0 is blocked.",
        "q"_a, "k"_a, "v"_a, "causal"_a = false, "mask"_a = nb::none(), "dropout"_a = 0.0,
        "dropout_key"_a = RandomKey(), "scale"_a = nb::none(), "alibi"_a = std::vector<double>(),
        "masked"_a = Masked::error, "weights"_a = true);
    define(m, "split_heads", BOTH(nn::split_heads), "(B, L, H d) -> (B, H, L, d), a view.", "x"_a, "heads"_a);
    define(m, "merge_heads", BOTH(nn::merge_heads), "(B, H, L, d) -> (B, L, H d)", "x"_a);
    define(m, "sequence_mask", BOTH(nn::sequence_mask),
           "x (B, Lq, Lk) with `value` at and beyond the valid length. valid_lens has a length per sequence (B) or per "
           "query (B, Lq).",
           "x"_a, "valid_lens"_a, "value"_a = 0.0);
    define(m, "masked_softmax", BOTH(nn::masked_softmax),
           "softmax over the last axis of x (B, Lq, Lk), with -1e6 beyond the valid length.", "x"_a,
           "valid_lens"_a = nb::none());
    m.def("padding_mask", &nn::padding_mask, "lengths"_a, "keys"_a,
          "(B, 1, 1, keys): sequence b has lengths[b] real keys.");
    m.def("look_ahead_mask", &nn::look_ahead_mask, "queries"_a, "keys"_a,
          "(1, 1, queries, keys): a query sees its own position and earlier ones.");
    m.def("window_mask", &nn::window_mask, "queries"_a, "keys"_a, "window"_a,
          "(queries, keys): a query sees its own position and the window - 1 positions before it.");
    m.def("document_mask", &nn::document_mask, "begins"_a,
          "(B, 1, L, L) for documents that begin at begins (B, L): a query sees its own document, up to itself.");
    m.def("alibi_slopes", &nn::alibi_slopes, "heads"_a, "A slope for each head.");
    define(
        m, "alibi_bias",
        []<class T>(const std::vector<double>& slopes, Size queries, Size keys, DType) {
            return nn::alibi_bias<T>(slopes, queries, keys);
        },
        "(1, H, queries, keys): -slope (i - j), which is added to the scores.", "slopes"_a, "queries"_a, "keys"_a,
        "dtype"_a = DType::float32);
}

}  // namespace

void bind_attention(nb::module_& m) {
    bind_functions(m);
    const auto random = "random"_a.none() = default_random();

    forward(layer<nn::SelfAttention, Generator&, Size, Size, Size, bool>(
                m, "SelfAttention", "One head: softmax(q k^T / sqrt(d_k)) v.", "random"_a, "d_model"_a, "d_k"_a,
                "d_v"_a, "bias"_a = true),
            "x (..., L, d_model) -> output (..., L, d_v), weights (..., L, L); mask broadcasts to these, 0 is blocked.",
            "x"_a, "mask"_a = nb::none());
    forward(layer<nn::CausalAttention, Generator&, Size, Size, Size, double, bool, nn::CausalMask>(
                m, "CausalAttention", "One head, in which a token sees itself and earlier tokens.", "random"_a,
                "d_in"_a, "d_out"_a, "context_length"_a, "dropout"_a = 0.0, "qkv_bias"_a = false,
                "mask"_a = nn::CausalMask::fill_minus_infinity),
            "x (..., L, d_in) -> output (..., L, d_out), weights (..., L, L)", "x"_a, random);
    auto multi = layer<nn::MultiHeadAttention, Generator&, Size, Size, Size, double, Size, bool>(
        m, "MultiHeadAttention", "Parallel heads; an output projection mixes them.", "random"_a, "d_in"_a, "d_out"_a,
        "context_length"_a, "dropout"_a, "num_heads"_a, "qkv_bias"_a = false);
    multi.def_static(
        "packed",
        [](Generator& r, Size width, Size context_length, Size heads, double p, bool bias, DType dtype) {
            AnyLayer<nn::MultiHeadAttention> made;
            with_type(dtype, [&]<class T>() {
                using Layer = nn::MultiHeadAttention<T>;
                const typename Layer::Packed packed{width, context_length, heads, p, bias};
                made.own = std::make_shared<Layer>(r, packed);
            });
            made.made = nb::make_tuple(nb::type<AnyLayer<nn::MultiHeadAttention>>().attr("packed"), again(r), width,
                                       context_length, heads, p, bias, dtype);
            return made;
        },
        "random"_a, "width"_a, "context_length"_a, "num_heads"_a, "dropout"_a = 0.0, "bias"_a = true,
        "dtype"_a = DType::float32, "GPT-2's form: c_attn computes query, key and value in one product.");
    forward_by(
        multi,
        []<class T>(const nn::MultiHeadAttention<T>& l, const Tensor<T>& x, bool weights, Generator* r) {
            return l.forward(x, wanted(weights), r);
        },
        "Causal self-attention: x (B, L, d_in) -> output (B, L, d_out), weights (B, H, L, L)", "x"_a,
        "weights"_a = true, random);
    define(
        multi, "cross",
        []<class T>(const nn::MultiHeadAttention<T>& l, const Tensor<T>& query, const Tensor<T>& key,
                    const Tensor<T>& value, const MaskArray& mask, bool weights,
                    Generator* r) { return l.forward(query, key, value, mask, wanted(weights), r); },
        "query (B, Lq, d_in), key and value (B, Lk, d_in); mask broadcasts to (B, H, Lq, Lk), 0 is blocked.", "query"_a,
        "key"_a, "value"_a, "mask"_a = nb::none(), "weights"_a = true, random);
    forward(
        layer<nn::MultiHeadAttentionWrapper, Generator&, Size, Size, Size, double, Size, bool, bool>(
            m, "MultiHeadAttentionWrapper",
            "Causal heads, computed one after the other; their outputs are concatenated.", "random"_a, "d_in"_a,
            "d_out"_a, "context_length"_a, "dropout"_a, "num_heads"_a, "qkv_bias"_a = false, "final_linear"_a = false),
        "x (B, L, d_in) -> output (B, L, num_heads d_out), weights (B, num_heads, L, L)", "x"_a, random);

    score<nn::DotScore>(m, "DotScore", "Q^T K; widths must be equal.");
    score<nn::ScaledDotScore>(m, "ScaledDotScore", "Q^T K / sqrt(d)");
    score<nn::BilinearScore, Generator&, Size, Size>(m, "BilinearScore", "Q^T W K, W (dq, dk).", "random"_a, "dq"_a,
                                                     "dk"_a);
    score<nn::ConcatScore, Generator&, Size, Size>(m, "ConcatScore", "w^T [Q; K], w (dq + dk).", "random"_a, "dq"_a,
                                                   "dk"_a);
    score<nn::AdditiveScore, Generator&, Size, Size, Size>(m, "AdditiveScore", "w_v^T tanh(W_q Q + W_k K)", "random"_a,
                                                           "dq"_a, "dk"_a, "num_hiddens"_a);
    nb::class_<AnyLayer<nn::Attention>, AnyModule> single(m, "Attention", "One head with any scoring function.");
    single.def(
        "__init__",
        [](AnyLayer<nn::Attention>* at, const nb::typed<nb::object, AnyModule>& held, double p) {
            AnyLayer<nn::Attention> made;
            const auto* const scoring = nb::isinstance<AnyModule>(held) ? nb::cast<const AnyModule*>(held) : nullptr;
            const bool scores = scoring && visit(*scoring, []<class T>(nn::Module<T>& l) {
                                    return dynamic_cast<nn::Score<T>*>(&l) != nullptr;
                                });
            if (!scores) throw nb::type_error("Attention: a score, such as ScaledDotScore(), is required");
            visit(*scoring, [&]<class T>(nn::Module<T>&) {
                made.own = std::make_shared<nn::Attention<T>>(std::make_unique<HeldScore<T>>(*scoring), p);
            });
            made.made = nb::make_tuple(nb::type<AnyLayer<nn::Attention>>(), held, p);
            new (at) AnyLayer<nn::Attention>(std::move(made));
        },
        "score"_a, "dropout"_a = 0.0);
    const auto attend = [&](const auto& c) {
        forward(c,
                "queries (B, Lq, dq), keys (B, Lk, dk), values (B, Lk, dv) -> output (B, Lq, dv), weights (B, Lq, Lk)",
                "queries"_a, "keys"_a, "values"_a, "valid_lens"_a = nb::none(), random);
    };
    attend(single);
    attend(layer<nn::AdditiveAttention, Generator&, Size, Size, Size, double>(
        m, "AdditiveAttention", "Attention with the additive score.", "random"_a, "key_size"_a, "query_size"_a,
        "num_hiddens"_a, "dropout"_a = 0.0));
}

}  // namespace inkling::python
