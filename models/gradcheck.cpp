#include "models/gradcheck.h"

#include "models/gpt.h"
#include "nn/gradcheck.h"

namespace inkling::models {
namespace {

// The loss of a two-layer model over all its parameters, with initial values large enough that every path counts.
double gpt_error(bool bias, double dropout) {
    GPT<double> model({7, 2, 2, 6, 5, dropout, bias, 1e-5});
    std::uint64_t seed = 50;
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
    return nn::module_gradient_error(model, [&](const Inputs&) { return model.loss(ids, targets); }, {});
}

}  // namespace

std::vector<GradcheckRow> gradcheck_models() {
    return {
        {"GPT, 2 layers, all parameters", [] { return gpt_error(true, 0); }},
        {"GPT, 2 layers, no biases", [] { return gpt_error(false, 0); }},
        {"GPT, 2 layers, dropout", [] { return gpt_error(true, 0.2); }},
    };
}

}  // namespace inkling::models
