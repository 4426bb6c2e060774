#include "train/adapters.h"

#include <set>

namespace inkling::train {

models::ParameterFilter adapted_parts(const TrainOptions& options, const models::Architecture& config) {
    std::set<models::ParameterName> parts;
    if (options.lora_rank > 0) {
        const models::ParameterFilter targets = models::adapter_targets(config, options.lora_targets);
        for (const models::ParameterSpec& p : models::parameters(config))
            if (targets(p)) parts.insert(p.name);
    }
    return [parts](const models::ParameterSpec& p) { return models::may_be_adapted(p) && parts.contains(p.name); };
}

void adapt(const TrainOptions& options, const models::ParameterFilter& parts, models::Transformer<float>& model) {
    model.freeze({options.base_precision});
    model.adapt(options.adapter_options(), parts, Generator{options.seed});
}

double trained_count(const TrainOptions& options, const models::Architecture& config) {
    if (options.lora_rank == 0) return static_cast<double>(models::parameter_count(config));
    return static_cast<double>(
        models::adapter_count(config, options.lora_rank, models::adapter_targets(config, options.lora_targets)));
}

double frozen_bytes(const TrainOptions& options, const models::Architecture& config) {
    if (options.lora_rank == 0) return 0;
    double bytes = 0;
    for (const models::ParameterSpec& p : models::parameters(config)) {
        const bool packs =
            models::may_be_packed(p) && (options.base_precision != WeightType::q8_0 || p.shape[1] % kQ8Block == 0);
        const WeightType type = packs ? options.base_precision : WeightType::fp32;
        constexpr double kQ8 = 1 + 2.0 / kQ8Block;
        bytes += static_cast<double>(size_of(p.shape)) * (type == WeightType::fp32   ? 4
                                                          : type == WeightType::bf16 ? 2
                                                                                     : kQ8);
    }
    return bytes;
}

}  // namespace inkling::train
