// The sizes and operations of a run that follow from its settings alone.
#include <algorithm>
#include <cmath>

#include "engine/base/q8_block.h"
#include "engine/kernels/block_types.h"
#include "models/files/folder.h"
#include "train/recipes/estimate.h"
#include "train/sharding/reduce_scatter.h"

namespace inkling::train {
namespace {

// AdamW keeps two numbers per parameter, SGD one, Muon one for elements of matrices and two for others.
double optimizer_bytes(const TrainOptions& options, const models::Architecture& config) {
    const double all = trained_count(options, config);
    if (options.optimizer == OptimizerKind::sgd) return 4 * all;
    if (options.optimizer == OptimizerKind::adamw) return 8 * all;
    return 8 * all - 4 * (options.lora_rank > 0 ? all : static_cast<double>(models::matrix_count(config)));
}

}  // namespace

double trained_count(const TrainOptions& options, const models::Architecture& config) {
    if (options.lora_rank == 0) return static_cast<double>(models::parameter_count(config));
    return static_cast<double>(
        models::adapter_count(config, options.lora_rank, models::adapter_targets(config, options.lora_targets)));
}

// Of a GGUF file's weights as they are; types that are not multiplied become q8_0.
double file_bytes(const std::string& model) {
    double bytes = 0;
    const auto files = models::WeightFiles::open(models::base_of_adapter(models::find_model(model)));
    for (const auto& [name, tensor] : files.tensors()) {
        const formats::NumberLayout& layout = *tensor.layout;
        const double q8 = 1 + 2.0 / kQ8Block;
        bytes += layout.block > 1 && block_type(layout.name)
                     ? static_cast<double>(tensor.bytes.size())
                     : static_cast<double>(tensor.count) * (layout.block > 1 ? q8 : 4);
    }
    return bytes;
}

double frozen_bytes(const TrainOptions& options, const models::Architecture& config) {
    if (options.lora_rank == 0) return 0;
    if (options.base_precision == WeightType::file && !options.init_from.empty()) return file_bytes(options.init_from);
    double bytes = 0;
    for (const models::ParameterSpec& p : models::parameters(config)) {
        const bool packs =
            models::may_be_packed(p) && (options.base_precision < WeightType::q8_0 || p.shape[1] % kQ8Block == 0);
        const WeightType type = packs ? options.base_precision : WeightType::fp32;
        const double each = type == WeightType::fp32 ? 4 : type == WeightType::bf16 ? 2 : 1 + 2.0 / kQ8Block;
        bytes += static_cast<double>(size_of(p.shape)) * each;
    }
    return bytes;
}

std::string_view frozen_type(const TrainOptions& options) {
    return options.base_precision == WeightType::file ? "the file's types" : name_of(options.base_precision);
}

double training_flops(const models::Architecture& config, double tokens) {
    const double C = static_cast<double>(config.query_width()), T = static_cast<double>(config.block_size);
    return 6 * static_cast<double>(models::multiplied_count(config)) * tokens +
           6 * static_cast<double>(config.n_layer) * C * T * tokens;
}

Estimate estimate_sizes(const TrainOptions& options, const models::Architecture& config, double text_tokens,
                        std::size_t processes) {
    Estimate result;
    const double all = trained_count(options, config);
    const double optimizer = optimizer_bytes(options, config), average = options.ema > 0 ? 4 * all : 0;
    result.text_bytes = static_cast<double>(data::id_bytes(config.vocab_size)) * text_tokens;
    const double N = static_cast<double>(processes);
    const double sums = 4 * all * std::log2(static_cast<double>(options.shards) / N);  // pairwise_sum.h
    const double received = 4 * std::min(all * (N - 1) / N, static_cast<double>(Exchange::kInFlight));
    result.state_bytes = frozen_bytes(options, config) + 8 * all + sums + received + optimizer / N + average;
    result.checkpoint_bytes = 4 * all + optimizer + average;  // no gradients
    return result;
}

}  // namespace inkling::train
