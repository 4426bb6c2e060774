#include "models/parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inkling::models {
namespace {

using nn::Initial;
using nn::ParameterKind;
using nn::Role;
using Wide = unsigned __int128;  // sizes of up to 2^30 in a malicious config.json overflow 64 bits

constexpr double kDeviation = 0.02;  // GPT-2's, which all families here take

// Collects the parameters of one place, weight before bias.
struct List {
    const Architecture& a;
    std::size_t layer;
    std::vector<ParameterSpec> all;

    void linear(ParameterName name, std::size_t out, std::size_t in, bool bias, ParameterKind kind, double deviation) {
        all.push_back({name, Slot::weight, layer, {out, in}, kind, Initial::normal(deviation)});
        if (bias) vector(name, Slot::bias, out, 0);
    }
    void norm(ParameterName name, std::size_t width, bool gain, bool bias) {
        if (gain) vector(name, Slot::weight, width, a.norm_gain_plus_one ? 0 : 1);
        if (bias) vector(name, Slot::bias, width, 0);
    }
    void vector(ParameterName name, Slot slot, std::size_t width, double value) {
        all.push_back({name, slot, layer, {width}, {Role::vector}, Initial::constant(value)});
    }
};

std::vector<ParameterSpec> first_parameters(const Architecture& a) {
    List list{a, 0, {}};
    list.linear(ParameterName::token_table, a.vocab_size, a.n_embd, false, {Role::embedding}, kDeviation);
    if (a.positions == Positions::learned)
        list.linear(ParameterName::position_table, a.block_size, a.n_embd, false, {Role::embedding}, kDeviation);
    if (a.token_shift) list.vector(ParameterName::token_shift, Slot::weight, a.n_embd, 0);
    return list.all;
}

std::vector<ParameterSpec> last_parameters(const Architecture& a) {
    List list{a, 0, {}};
    list.norm(ParameterName::final_norm, a.n_embd, a.norm_gain, a.norm_bias);
    if (!a.tied_head) list.linear(ParameterName::head, a.vocab_size, a.n_embd, false, {Role::head}, kDeviation);
    return list.all;
}

}  // namespace

std::vector<ParameterSpec> layer_parameters(const Architecture& a, std::size_t layer) {
    using enum ParameterName;
    const std::size_t C = a.n_embd, d = a.head_size(), F = a.inner();
    const ParameterKind matrix{Role::matrix}, heads{Role::matrix, 1, d}, packed{Role::matrix, 3, d};
    // back into the stream, to which 2 L parts are added (Radford et al. 2019)
    const double projection = kDeviation / std::sqrt(2.0 * static_cast<double>(a.n_layer));
    List list{a, layer, {}};
    list.norm(attention_norm, C, a.norm_gain, a.norm_bias);
    if (a.token_shift) list.vector(attention_shift, Slot::weight, C, 0);
    if (a.packed_qkv) {
        list.linear(query_key_value, 3 * a.query_width(), C, a.qkv_bias, packed, kDeviation);
    } else {
        list.linear(query, a.query_width(), C, a.qkv_bias, heads, kDeviation);
        list.linear(key, a.kv_width(), C, a.qkv_bias, heads, kDeviation);
        list.linear(value, a.kv_width(), C, a.qkv_bias, heads, kDeviation);
    }
    if (a.head_norm != HeadNorm::none) {
        list.norm(query_norm, d, a.head_norm_gain, false);
        list.norm(key_norm, d, a.head_norm_gain, false);
    }
    list.linear(attention_output, C, a.query_width(), a.attention_bias, matrix, projection);
    if (a.post_norms) list.norm(attention_output_norm, C, a.norm_gain, a.norm_bias);
    list.norm(mlp_norm, C, a.norm_gain, a.norm_bias);
    if (a.token_shift) list.vector(mlp_shift, Slot::weight, C, 0);
    if (a.gated) list.linear(gate, F, C, a.mlp_bias, matrix, kDeviation);
    list.linear(up, F, C, a.mlp_bias, matrix, kDeviation);
    list.linear(down, C, F, a.mlp_bias, matrix, projection);
    if (a.post_norms) list.norm(mlp_output_norm, C, a.norm_gain, a.norm_bias);
    return list.all;
}

std::vector<ParameterSpec> parameters(const Architecture& a) {
    std::vector<ParameterSpec> all = first_parameters(a);
    const auto append = [&](const std::vector<ParameterSpec>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    for (std::size_t i = 0; i < a.n_layer; ++i) append(layer_parameters(a, i));
    append(last_parameters(a));
    return all;
}

std::array<ParameterSpec, 2> adapter_parameters(const ParameterSpec& weight, std::size_t rank) {
    const std::size_t out = weight.shape[0], in = weight.shape[1];
    ParameterSpec a = weight, b = weight;
    a.slot = Slot::lora_a, a.shape = {rank, in}, a.kind = {weight.kind.role};  // the head's adapter has the head's rate
    b.slot = Slot::lora_b, b.shape = {out, rank}, b.kind = a.kind;
    a.initial = Initial::uniform(1 / std::sqrt(static_cast<double>(in))), b.initial = Initial::constant(0);
    return {{a, b}};
}

std::vector<ParameterSpec> parameters(const Architecture& a, std::size_t rank, const ParameterFilter& adapted) {
    std::vector<ParameterSpec> all;
    for (const ParameterSpec& p : parameters(a)) {
        all.push_back(p);
        if (!may_be_adapted(p) || !adapted(p)) continue;
        for (const ParameterSpec& matrix : adapter_parameters(p, rank)) all.push_back(matrix);
    }
    return all;
}

std::uint64_t parameter_count(const Architecture& a, const ParameterFilter& which) {
    Wide all = 0;
    const auto count = [&](const std::vector<ParameterSpec>& list, Wide times) {
        for (const ParameterSpec& p : list) {
            if (which && !which(p)) continue;
            Wide n = times;
            for (const std::size_t extent : p.shape) n *= extent;
            all += n;
        }
    };
    count(first_parameters(a), 1);
    count(layer_parameters(a, 0), a.n_layer);
    count(last_parameters(a), 1);
    return static_cast<std::uint64_t>(std::min<Wide>(all, std::numeric_limits<std::uint64_t>::max()));
}

std::uint64_t matrix_count(const Architecture& a) {
    return parameter_count(a, [](const ParameterSpec& p) { return p.kind.role == Role::matrix; });
}

std::uint64_t multiplied_count(const Architecture& a) {
    return parameter_count(a, [&](const ParameterSpec& p) {
        return p.kind.role != Role::embedding || (a.tied_head && p.name == ParameterName::token_table);
    });
}

}  // namespace inkling::models
