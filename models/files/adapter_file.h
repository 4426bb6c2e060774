// The tensors of an adapter_model.safetensors, under the names of PEFT's save_pretrained. A state dict saved directly
// also has the adapter's name in each: lora_A.default.weight.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/tokenizers/split/regex.h"
#include "engine/array/array.h"
#include "formats/safetensors/safetensors.h"
#include "models/adapter.h"

namespace inkling::models {

inline constexpr const char* kAdapterConfig = "adapter_config.json";  // beside it

class AdapterFile {
  public:
    // Throws BadInput for a file without tensors, and for several adapters in one.
    explicit AdapterFile(const std::filesystem::path& path);

    const std::string& path() const { return path_; }
    const std::map<std::string, std::string>& names() const { return names_; }  // to those in the file
    bool contains(const std::string& name) const { return names_.contains(name); }
    const formats::TensorInfo& info(const std::string& name) const { return file_.info(names_.at(name)); }
    Array<float> read(const std::string& name, const Shape& shape) const;  // BadInput: values that are not finite

  private:
    std::string path_;
    formats::SafetensorsFile file_;
    std::map<std::string, std::string> names_;
};

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
    // Throws BadInput, naming the key, for a pattern that is no regular expression and for senseless values.
    AdapterPatterns(const std::filesystem::path& config, const AdapterOptions& options);

    LayerSize of(const std::string& layer) const;

  private:
    using Pattern = std::pair<data::Regex, double>;
    static const Pattern* match(const std::vector<Pattern>& patterns, const std::string& layer);

    AdapterOptions options_;
    std::vector<Pattern> ranks_, alphas_;
};

}  // namespace inkling::models
