// The parts of adapter_config.json that read_adapter_config (adapter_folder.h) leaves out.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/tokenizers/split/regex.h"
#include "models/adapter.h"

namespace inkling::models {

inline constexpr const char* kAdapterConfig = "adapter_config.json";

// The rank and alpha of each layer by adapter_config.json: r and lora_alpha, or the value of the first key of
// rank_pattern and of alpha_pattern that matches the layer's name, a regular expression of its end, as in PEFT's
// get_pattern_key:
//   {"r": 8, "rank_pattern": {"q_proj": 4, "layers\\.0\\..*": 2}}
//   const LayerSize size = patterns.of("model.layers.0.self_attn.q_proj");   // {4, alpha}
struct LayerSize {
    std::size_t rank;
    double alpha;
};

class AdapterPatterns {
  public:
    // Throws BadInput, naming the key, for an invalid regular expression or value.
    AdapterPatterns(const std::filesystem::path& config, const AdapterOptions& options);

    LayerSize of(const std::string& layer) const;

  private:
    using Pattern = std::pair<data::Regex, double>;

    AdapterOptions options_;
    std::vector<Pattern> ranks_, alphas_;
};

}  // namespace inkling::models
