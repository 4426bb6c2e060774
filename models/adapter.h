// Low-rank adapters (Hu et al. 2021): a frozen linear layer y = x W^T + b becomes
//   y = x W^T + b + s dropout(x) A^T B^T,   A (r, in), B (out, r), s = alpha / r
// and only A and B are trained. Rank and alpha may differ between weights. A and B are parameters in the list of
// models/parameters.h.
//   model.adapt({.rank = 16}, adapter_targets(model.config, "q_proj,v_proj"), Generator{1337});
//   model.merge_adapters();                                  // W + s B A: the same model, without adapters
// Their files are PEFT's: models/files/adapter_folder.h.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "models/parameters.h"

namespace inkling::models {

struct AdapterOptions {
    std::size_t rank = 0;  // 0: no adapters
    double alpha = 32, dropout = 0;
    bool rank_stabilized = false;  // s = alpha / sqrt(r) (Kalajdzievski 2023, rsLoRA)
    std::string base = "";         // the base model's folder, if known
    bool changes_tables = false;   // an adapter of the token table or a tied head was merged into the model

    double scale(std::size_t r, double a) const {
        const auto divisor = static_cast<double>(r);
        return a / (rank_stabilized ? std::sqrt(divisor) : divisor);
    }
    double scale() const { return scale(rank, alpha); }
    template <class T>
    double scale(const Weights<T>& adapted) const {
        return scale(adapted.lora_a.dim(0), adapted.lora_alpha.value_or(alpha));
    }
};

inline constexpr double kLargestProduct = 1e18;  // of B A: squares of sums with it are beyond float32
inline constexpr const char* kAllLinear = "all-linear";
inline constexpr const char* kTablesChanged =
    "an adapter of the token table, or of a head that is the token table, is read alone: merge it into the model by "
    "inkling export --format hf";

// The weights that --lora-targets names, separated by commas: all-linear for every linear layer of the blocks, or names
// of layers in the family's files or their last parts, as in PEFT: q_proj, mlp.c_proj, lm_head. Throws Error, listing
// the known names, for an unknown one.
ParameterFilter adapter_targets(const Architecture& architecture, const std::string& names);
// Elements of the adapters of these weights.
std::uint64_t adapter_count(const Architecture& architecture, std::size_t rank, const ParameterFilter& targets);

// The fewest names that adapter_targets and PEFT resolve to exactly these weights.
std::vector<std::string> target_names(const Architecture& architecture, const ParameterFilter& targets);

}  // namespace inkling::models
