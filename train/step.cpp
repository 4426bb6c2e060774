#include "train/step.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/ops/elementwise.h"
#include "engine/profile.h"
#include "train/evaluate.h"

namespace inkling::train {

TrainingStep::TrainingStep(const TrainOptions& options, models::Transformer<float>& model, const data::Sampler& sampler,
                           CombineGradients combine)
    : parameters(model),
      optimizer(make_optimizer(options, parameters)),
      average(parameters, options.ema),
      options_(options),
      model_(model),
      sampler_(sampler),
      combine_(std::move(combine)) {
    model_.checkpoint_activations = options.checkpoint_activations;
}

StepResult TrainingStep::run(std::size_t number) {
    const WithPrecision scope(options_.precision);
    Generator random{options_.seed, (number + 1) << 20};  // dropout masks follow from the step alone
    parameters.zero_gradients();
    StepResult result;
    const std::size_t micro_steps = options_.gradient_accumulation_steps, first = number * micro_steps;
    std::size_t targets = 0;
    for (std::size_t i = 0; i < micro_steps; ++i) targets += sampler_.targets(first + i);
    const auto array = [&](const std::vector<std::int32_t>& ids) {
        return ids.empty() ? IdArray() : id_array(ids, batch_.batch, batch_.length);
    };
    for (std::size_t i = 0; i < micro_steps; ++i) {
        sampler_.fill(first + i, batch_);
        profile::lap("batch");
        const Tensor<float> y = model_.loss(array(batch_.inputs), array(batch_.targets), &random, array(batch_.begins));
        const double part = static_cast<double>(y.item());
        // each target counts the same: of windows, a batch is one part of `micro_steps`
        const double parts = static_cast<double>(targets) / static_cast<double>(sampler_.targets(first + i));
        result.loss += part / parts;
        if (!std::isfinite(part)) break;
        backward(micro_steps == 1 ? y : scale(y, 1.0 / parts));
    }
    profile::lap("loss");
    if (combine_) combine_(parameters.gradients(), result.loss);
    result.grad_norm = std::isfinite(result.loss) ? gradient_norm(parameters.gradients()) : result.loss;
    profile::lap("gradient norm");
    result.learning_rate = schedule_of(options_).at(number);
    if (!std::isfinite(result.grad_norm)) return result;
    optimizer->step(result.learning_rate, clip_scale(result.grad_norm, options_.grad_clip));
    average.update(optimizer->updates);
    profile::lap(name_of(optimizer->kind()));
    return result;
}

}  // namespace inkling::train
