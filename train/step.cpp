#include "train/step.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/float_mode.h"
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

double TrainingStep::add_gradients(std::size_t number) {
    Generator random{options_.seed, (number + 1) << 20};  // dropout masks follow from the step alone
    parameters.zero_gradients();
    double loss = 0;
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
        loss += part / parts;
        if (!std::isfinite(part)) break;
        backward(micro_steps == 1 ? y : scale(y, 1.0 / parts));
    }
    return loss;
}

StepResult TrainingStep::run(std::size_t number) {
    const WithPrecision scope(options_.precision);
    const StandardNumbers numbers;
    StepResult result;
    result.loss = add_gradients(number);
    profile::lap("loss");
    if (combine_) combine_(parameters.gradients(), result.loss);
    result.grad_norm = std::isfinite(result.loss) ? gradient_norm(parameters.gradients()) : result.loss;
    profile::lap("gradient norm");
    result.learning_rate = schedule_of(options_).at(number);
    if (!std::isfinite(result.grad_norm)) return result;
    result.z = spikes.scores(result.loss, result.grad_norm);
    spikes.add(result.loss, result.grad_norm);
    result.skipped = options_.skip_spikes > 0 && result.z.largest() > options_.skip_spikes;
    if (result.skipped) return result;
    optimizer->step(result.learning_rate, clip_scale(result.grad_norm, options_.grad_clip));
    average.update(optimizer->updates);
    profile::lap(name_of(optimizer->kind()));
    return result;
}

std::string TrainingStep::find_anomaly(std::size_t number) {
    std::string largest_name;
    double largest = -1;
    for (const auto& entry : parameters.entries()) {
        const std::string bad = first_not_finite<float>(entry.parameter.value());
        if (!bad.empty()) return fmt::format("{} is not finite already: it is {}", entry.name, bad);
    }
    try {
        const WithPrecision scope(options_.precision);
        const StandardNumbers numbers;
        const DetectAnomaly detect;
        add_gradients(number);
    } catch (const Anomaly& e) {
        return e.what();
    }
    for (const auto& entry : parameters.entries()) {
        const double here = largest_magnitude<float>(entry.parameter.grad());
        if (here > largest) largest = here, largest_name = entry.name;
    }
    return fmt::format(
        "every value and gradient is finite, and the norm of the gradients is not: the largest is {:.3g}, of {}",
        largest, largest_name);
}

}  // namespace inkling::train
