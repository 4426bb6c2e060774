#include "models/gradcheck.h"

#include "models/language_model.h"
#include "nn/gradcheck.h"
#include "nn/init.h"

namespace inkling::models {
namespace {

// The loss of a two-layer model over all its parameters, with initial values large enough that every path counts.
double model_error(const GPTConfig& config, std::uint64_t seed = 50) {
    const Generator before = nn::default_generator();
    nn::default_generator() = {seed, 1};
    const auto made = make_model<double>(config);
    LanguageModel<double>& model = *made;
    for (auto& [name, p] : model.parameters()) {
        const Array<double> noise = normal(p.shape(), ++seed);
        Array<double>& values = p.value_in_place();
        for (std::size_t i = 0; i < values.size(); ++i) values.data()[i] += 0.3 * noise.data()[i];
    }
    IdArray ids({2, 5}), targets({2, 5});
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids.data()[i] = static_cast<std::int32_t>(i * 3 % 7);
        targets.data()[i] = static_cast<std::int32_t>(i * 5 % 7);
    }
    const double error = nn::module_gradient_error(model, [&](const Inputs&) { return model.loss(ids, targets); }, {});
    nn::default_generator() = before;
    return error;
}

}  // namespace

std::vector<GradcheckRow> gradcheck_models() {
    const auto gpt = [](bool bias, double dropout) { return model_error({7, 2, 2, 6, 5, dropout, bias}); };
    const auto nanochat = [](std::size_t kv_heads, double dropout, bool bias, double softcap) {
        GPTConfig config{7, 2, 4, 8, 5, dropout, bias};
        config.arch = Arch::nanochat;
        config.n_kv_head = kv_heads, config.n_inner = 6;
        config.layer_norm_epsilon = 0.1;  // norms of short vectors bend more than finite differences can follow
        config.softcap = softcap;
        // with this seed no input of the squared relu is so near to 0 that finite differences reach across
        return model_error(config, 9);
    };
    return {
        {"GPT, 2 layers, all parameters", [=] { return gpt(true, 0); }},
        {"GPT, 2 layers, no biases", [=] { return gpt(false, 0); }},
        {"GPT, 2 layers, dropout", [=] { return gpt(true, 0.2); }},
        {"NanoChat, 2 layers, all parameters", [=] { return nanochat(4, 0, false, 15); }},
        {"NanoChat, 2 layers, shared keys and values", [=] { return nanochat(2, 0, false, 0); }},
        {"NanoChat, 2 layers, dropout and biases", [=] { return nanochat(1, 0.2, true, 2); }},
    };
}

}  // namespace inkling::models
