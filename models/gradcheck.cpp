#include "models/gradcheck.h"

#include "models/families/family.h"
#include "models/transformer.h"
#include "nn/gradcheck.h"

namespace inkling::models {
namespace {

// The loss of a two-layer model over all its parameters, or those of its adapters where it is to have some, with
// initial values large enough that every path counts.
double model_error(const Architecture& architecture, const AdapterOptions& adapter = {},
                   const char* adapted = kAllLinear) {
    std::uint64_t seed = 50;
    Transformer<double> model(architecture, inkling::Generator{seed, 1});
    if (adapter.rank > 0) model.adapt(adapter, adapter_targets(architecture, adapted), inkling::Generator{seed, 2});
    for (auto& [name, p] : model.parameters()) {
        p.value_in_place() += 0.3 * normal(p.shape(), ++seed);
    }
    IdArray ids({2, 5}), targets({2, 5});
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids.data()[i] = static_cast<std::int32_t>(i * 3 % 7);
        targets.data()[i] = static_cast<std::int32_t>(i * 5 % 7);
    }
    const auto loss = [&](const Inputs&, inkling::Generator* random) { return model.loss(ids, targets, random); };
    return nn::module_gradient_error(model, loss, {});
}

Architecture small(const char* name, bool bias, double dropout) {
    Architecture a = family(name).defaults(bias);
    a.vocab_size = 7, a.n_layer = 2, a.block_size = 5;
    a.n_head = 2, a.n_embd = 6;
    a.dropout = dropout;
    return a;
}

}  // namespace

std::vector<GradcheckRow> gradcheck_models() {
    const auto gpt = [](bool bias, double dropout) { return model_error(small("gpt2", bias, dropout)); };
    const auto grouped = [](const char* name, std::size_t kv_heads, bool bias, double dropout) {
        Architecture a = small(name, bias, dropout);
        a.n_head = 4, a.n_embd = 8, a.n_inner = 6;
        a.n_kv_head = kv_heads;
        return a;
    };
    const auto nanochat = [=](std::size_t kv_heads, double dropout, bool bias, double softcap) {
        Architecture a = grouped("nanochat", kv_heads, bias, dropout);
        a.softcap = softcap;
        return model_error(a);
    };
    const auto llama = [=](std::size_t kv_heads, double dropout, bool bias, bool tied) {
        Architecture a = grouped("llama", kv_heads, bias, dropout);
        a.tied_head = tied;
        return model_error(a);
    };
    const auto variant = [=](const char* name, bool bias, const std::function<void(Architecture&)>& change) {
        Architecture a = grouped(name, 0, bias, 0);
        change(a);
        return model_error(a);
    };
    const auto llama3 = [](Architecture& a) { a.rope = {RopeScaling::llama3, 8, 1, 4, 4}, a.rope_theta = 20; };
    return {
        {"GPT, 2 layers, all parameters", [=] { return gpt(true, 0); }},
        {"GPT, 2 layers, no biases", [=] { return gpt(false, 0); }},
        {"GPT, 2 layers, dropout", [=] { return gpt(true, 0.2); }},
        {"NanoChat, 2 layers, all parameters", [=] { return nanochat(4, 0, false, 15); }},
        {"NanoChat, 2 layers, shared keys and values", [=] { return nanochat(2, 0, false, 0); }},
        {"NanoChat, 2 layers, dropout and biases", [=] { return nanochat(1, 0.2, true, 2); }},
        {"Llama, 2 layers, all parameters", [=] { return llama(4, 0, false, false); }},
        {"Llama, 2 layers, shared keys and values, tied head", [=] { return llama(2, 0, false, true); }},
        {"Llama, 2 layers, dropout and biases", [=] { return llama(1, 0.2, true, false); }},
        {"Llama, 2 layers, rotary angles of llama3", [=] { return variant("llama", false, llama3); }},
        {"Qwen 2, 2 layers, all parameters",
         [=] { return variant("qwen2", true, [](Architecture& a) { a.n_kv_head = 2; }); }},
        {"Qwen 3, 2 layers, wide heads, all parameters",
         [=] { return variant("qwen3", true, [](Architecture& a) { a.n_kv_head = 2, a.head_dim = 4; }); }},
        {"Gemma 3, 2 layers, one with a window, all parameters",
         [=] {
             return variant("gemma3", false, [](Architecture& a) {
                 a.n_kv_head = 2, a.window = 2, a.global_every = 2, a.rope_theta = 50, a.score_width = 5;
             });
         }},
        {"GPT, 2 layers, gelu_erf, scaled by layer, a head of its own",
         [=] {
             return variant("gpt2", true, [](Architecture& a) {
                 a.activation = Activation::gelu_erf, a.scale_by_layer = true, a.tied_head = false;
             });
         }},
        {"GPT, 2 layers, relu",
         [=] { return variant("gpt2", true, [](Architecture& a) { a.activation = Activation::relu; }); }},
        {"GPT, 2 layers, silu",
         [=] { return variant("gpt2", true, [](Architecture& a) { a.activation = Activation::silu; }); }},
        {"GPT, 2 layers, adapters",
         [=] { return model_error(small("gpt2", true, 0), {.rank = 2, .alpha = 3}, "c_attn,c_proj,c_fc"); }},
        {"Llama, 2 layers, adapters, shared keys and values, dropout",
         [=] { return model_error(grouped("llama", 2, false, 0.2), {.rank = 1, .alpha = 2, .dropout = 0.3}); }},
        {"Qwen 3, 2 layers, adapters, of the head too",
         [=] {
             return model_error(grouped("qwen3", 1, false, 0), {.rank = 2, .alpha = 1, .rank_stabilized = true},
                                "lm_head,q_proj,gate_proj");
         }},
        {"GPT-NeoX, 2 layers, adapters",
         [=] {
             Architecture a = grouped("gpt-neox", 0, true, 0);
             a.n_embd = 16, a.rotary_part = 0.5;
             return model_error(a, {.rank = 2, .alpha = 2});
         }},
        {"GPT-NeoX, 2 layers, all parameters",
         [=] { return variant("gpt-neox", true, [](Architecture& a) { a.n_embd = 16, a.rotary_part = 0.5; }); }},
        {"GPT-NeoX, 2 layers, one part after the other",
         [=] {
             return variant("gpt-neox", true, [](Architecture& a) { a.n_embd = 32, a.parallel_residual = false; });
         }},
    };
}

}  // namespace inkling::models
