#include "models/gradcheck.h"

#include "models/families/family.h"
#include "models/transformer.h"
#include "nn/gradcheck.h"

namespace inkling::models {
namespace {

// A two-layer model of a family, as `change` makes it, and its adapters where it is to have some.
struct Row {
    const char *name, *family;
    bool bias;
    void (*change)(Architecture&);
    AdapterOptions adapter = {};
    const char* adapted = kAllLinear;
};

// The error of its loss over all its parameters, or those of its adapters, with initial values large enough that every
// path counts.
double model_error(const Row& row) {
    Architecture a = family(row.family).defaults(row.bias);
    a.vocab_size = 7, a.n_layer = 2, a.block_size = 5;
    a.n_head = 4, a.n_embd = 8, a.n_inner = 6;
    a.dropout = 0;
    row.change(a);
    std::uint64_t seed = 50;
    Transformer<double> model(a, inkling::Generator{seed, 1});
    if (row.adapter.rank > 0) model.adapt(row.adapter, adapter_targets(a, row.adapted), inkling::Generator{seed, 2});
    for (auto& [name, p] : model.parameters()) {
        p.value_in_place() += 0.3 * normal(p.shape(), ++seed);
    }
    IdArray ids({2, 5}), targets({2, 5});
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids.data()[i] = static_cast<std::int32_t>(i * 3 % 7);
        targets.data()[i] = static_cast<std::int32_t>(i * 5 % 7);
    }
    const auto loss = [&](const Inputs&, inkling::Generator* random) { return model.loss(ids, targets, random); };
    return nn::module_gradient_error(model, loss, {}, nn::Orders::first);  // all parameters twice take minutes
}

using Arch = Architecture;

void odd_heads(Arch& a) { a.n_head = 2, a.n_embd = 6, a.n_inner = 0; }
void wider(Arch& a) { a.n_embd = 16, a.rotary_part = 0.5; }

const Row kRows[] = {
    {"GPT, 2 layers, all parameters", "gpt2", true, odd_heads},
    {"GPT, 2 layers, no biases", "gpt2", false, odd_heads},
    {"GPT, 2 layers, dropout", "gpt2", true, [](Arch& a) { odd_heads(a), a.dropout = 0.2; }},
    {"NanoChat, 2 layers, all parameters", "nanochat", false, [](Arch& a) { a.softcap = 15; }},
    {"NanoChat, 2 layers, shared keys and values", "nanochat", false, [](Arch& a) { a.n_kv_head = 2, a.softcap = 0; }},
    {"NanoChat, 2 layers, dropout and biases", "nanochat", true,
     [](Arch& a) { a.n_kv_head = 1, a.dropout = 0.2, a.softcap = 2; }},
    {"Inkling, 2 layers, all parameters", "inkling", false, [](Arch& a) { a.n_kv_head = 2; }},
    {"Llama, 2 layers, all parameters", "llama", false, [](Arch& a) { a.tied_head = false; }},
    {"Llama, 2 layers, shared keys and values, tied head", "llama", false,
     [](Arch& a) { a.n_kv_head = 2, a.tied_head = true; }},
    {"Llama, 2 layers, dropout and biases", "llama", true,
     [](Arch& a) { a.n_kv_head = 1, a.dropout = 0.2, a.tied_head = false; }},
    {"Llama, 2 layers, rotary angles of llama3", "llama", false,
     [](Arch& a) {
         a.rope = {RopeScaling::llama3, 8, 1, 4, 4}, a.rope_theta = 20;
     }},
    {"Qwen 2, 2 layers, all parameters", "qwen2", true, [](Arch& a) { a.n_kv_head = 2; }},
    {"Qwen 3, 2 layers, wide heads, all parameters", "qwen3", true, [](Arch& a) { a.n_kv_head = 2, a.head_dim = 4; }},
    {"Gemma 3, 2 layers, one with a window, all parameters", "gemma3", false,
     [](Arch& a) { a.n_kv_head = 2, a.window = 2, a.global_every = 2, a.rope_theta = 50, a.score_width = 5; }},
    {"GPT, 2 layers, gelu_erf, scaled by layer, a head of its own", "gpt2", true,
     [](Arch& a) { a.activation = Activation::gelu_erf, a.scale_by_layer = true, a.tied_head = false; }},
    {"GPT, 2 layers, relu", "gpt2", true, [](Arch& a) { a.activation = Activation::relu; }},
    {"GPT, 2 layers, silu", "gpt2", true, [](Arch& a) { a.activation = Activation::silu; }},
    {"GPT, 2 layers, adapters", "gpt2", true, odd_heads, {.rank = 2, .alpha = 3}, "c_attn,c_proj,c_fc"},
    {"Llama, 2 layers, adapters, shared keys and values, dropout",
     "llama",
     false,
     [](Arch& a) { a.n_kv_head = 2, a.dropout = 0.2; },
     {.rank = 1, .alpha = 2, .dropout = 0.3}},
    {"Qwen 3, 2 layers, adapters, of the head too",
     "qwen3",
     false,
     [](Arch& a) { a.n_kv_head = 1; },
     {.rank = 2, .alpha = 1, .rank_stabilized = true},
     "lm_head,q_proj,gate_proj"},
    {"GPT-NeoX, 2 layers, adapters", "gpt-neox", true, wider, {.rank = 2, .alpha = 2}},
    {"GPT-NeoX, 2 layers, all parameters", "gpt-neox", true, wider},
    {"GPT-NeoX, 2 layers, one part after the other", "gpt-neox", true,
     [](Arch& a) { a.n_embd = 32, a.parallel_residual = false; }},
};

}  // namespace

std::vector<GradcheckRow> gradcheck_models() {
    std::vector<GradcheckRow> all;
    for (const Row& row : kRows) all.push_back({row.name, [&row] { return model_error(row); }});
    return all;
}

}  // namespace inkling::models
