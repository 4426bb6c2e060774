#include "models/files/adapter_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "formats/named.h"

namespace inkling::models {

namespace {

formats::SafetensorsFile open_adapter(const std::filesystem::path& path) {
    formats::refuse_other_form(path, {"adapter_model.bin"},
                               "import torch, safetensors.torch as s; s.save_file(torch.load('{0}/adapter_model.bin', "
                               "weights_only=True), '{0}/adapter_model.safetensors')");
    return formats::SafetensorsFile::open(path);
}

}  // namespace

AdapterFile::AdapterFile(const std::filesystem::path& path) : path_(path.string()), file_(open_adapter(path)) {
    std::set<std::string> adapters;
    for (const auto& [stored, info] : file_.tensors()) {
        std::string name = stored;
        for (const std::string matrix : {".lora_A", ".lora_B", ".lora_embedding_A", ".lora_embedding_B"}) {
            const std::size_t at = stored.find(matrix + ".");
            if (at == std::string::npos) continue;
            const std::size_t end = at + matrix.size(), tail = stored.ends_with(".weight") ? 7 : 0;
            name = stored.substr(0, end) + stored.substr(stored.size() - tail);
            adapters.insert(stored.substr(end, stored.size() - tail - end));
        }
        names_.emplace(name, stored);
    }
    check<BadInput>(adapters.size() <= 1 && names_.size() == file_.tensors().size(),
                    "{}: holds several adapters: save one of them", path_);
    check<BadInput>(!names_.empty(), "{}: holds no tensors", path_);
}

Array<float> AdapterFile::read(const std::string& name, const Shape& shape) const {
    Array<float> values(shape);
    const std::uint64_t not_finite = file_.read(names_.at(name), values.data(), values.size());
    check<BadInput>(not_finite == 0, "{}: {} holds values that are not finite", path_, name);
    return values;
}

namespace {

// Visits the pairs of an object of adapter_config.json in the file's order, which decides.
template <class Take>
void each_pattern(const std::filesystem::path& path, const char* key, const Take& take) {
    const auto all = formats::ordered_json_or_null(formats::read_file(path, formats::FileKind::json));
    const auto found = all.is_object() ? all.find(key) : all.end();
    if (found == all.end() || found->is_null()) return;
    check<BadInput>(found->is_object(), "{}: {} must be an object, got {}", path.string(), key,
                    formats::quote(nlohmann::json(*found)));
    for (const auto& [pattern, value] : found->items()) {
        const std::string what = fmt::format("{}: {}: {}", path.string(), key, shown_name(pattern));
        const double number = value.is_number() ? value.template get<double>() : NAN;
        formats::named(what, [&] {
            take(data::Regex("^(.*\\.)?(" + pattern + ")$", data::Regex::Steps::counted), number,
                 formats::quote(nlohmann::json(value)).text());
        });
    }
}

}  // namespace

AdapterPatterns::AdapterPatterns(const std::filesystem::path& config, const AdapterOptions& options)
    : options_(options) {
    each_pattern(config, "rank_pattern", [&](data::Regex pattern, double rank, const std::string& shown) {
        check<BadInput>(rank >= 1 && rank <= 1 << 30 && rank == std::floor(rank),
                        "a whole number of at least 1 is required, got {}", shown);
        ranks_.emplace_back(std::move(pattern), rank);
    });
    each_pattern(config, "alpha_pattern", [&](data::Regex pattern, double alpha, const std::string& shown) {
        check<BadInput>(std::abs(alpha) < kLargestProduct, "a number below {:.0e} is required, got {}", kLargestProduct,
                        shown);
        alphas_.emplace_back(std::move(pattern), alpha);
    });
}

const AdapterPatterns::Pattern* AdapterPatterns::match(const std::vector<Pattern>& patterns, const std::string& layer) {
    constexpr std::uint64_t kSteps = 100'000;
    for (const Pattern& pattern : patterns) {
        data::Regex::Scan scan(pattern.first);
        scan.allow(kSteps);
        if (scan.find(layer, 0)) return &pattern;
    }
    return nullptr;
}

LayerSize AdapterPatterns::of(const std::string& layer) const {
    const Pattern *const rank = match(ranks_, layer), *const alpha = match(alphas_, layer);
    return {rank ? static_cast<std::size_t>(rank->second) : options_.rank, alpha ? alpha->second : options_.alpha};
}

}  // namespace inkling::models
