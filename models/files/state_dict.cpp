#include "models/files/state_dict.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "formats/safetensors/safetensors.h"
#include "models/files/stored_weights.h"

namespace inkling::models {

template <class T>
Unmatched load_state_dict(nn::Module<T>& module, const std::filesystem::path& path, Match match) {
    const formats::SafetensorsFile file = formats::SafetensorsFile::open(path);
    auto parameters = module.parameters();
    const std::vector<std::string> buffers = module.buffers();
    std::set<std::string> known(buffers.begin(), buffers.end());
    Unmatched unmatched;
    std::string problems;
    for (auto& [name, p] : parameters) {
        known.insert(name);
        if (!file.contains(name)) {
            unmatched.missing.push_back(name);
            continue;
        }
        const auto& stored = file.tensor(name).shape;
        const Shape shape(stored.begin(), stored.end());
        if (shape != p.shape())
            problems += fmt::format("; {} has shape {}, the module's is {}", name, shape, p.shape());
    }
    for (const auto& [name, tensor] : file.tensors())
        if (!known.contains(name)) unmatched.unexpected.push_back(name);
    if (match == Match::all) {
        for (const std::string& name : unmatched.missing) problems += fmt::format("; {} is missing", name);
        for (const std::string& name : unmatched.unexpected) problems += fmt::format("; {} is not known", name);
    }
    check<BadInput>(problems.empty(), "{}: does not fit the module{}", path.string(), shorten_list(problems));
    for (auto& [name, p] : parameters) {
        if (file.contains(name)) file.read(name, p.value_in_place().data(), p.size());
    }
    return unmatched;
}

template <class T>
void save_state_dict(nn::Module<T>& module, const std::filesystem::path& path) {
    formats::SafetensorsWriter out;
    out.set_metadata("format", "pt");
    module.visit({.on_weight = [&](const std::string& name, const Weight<T>& w) {
        const Shape of = w.shape();
        const std::vector<std::uint64_t> shape(of.begin(), of.end());
        if constexpr (std::is_same_v<T, float>) {
            out.add_rounded(name, formats::DType::F32, shape, [w](const auto& part) { part(w.values()); });
        } else {
            const T* const data = w.value().data();
            const bool finite = std::all_of(data, data + w.size(), [](T x) { return std::isfinite(x); });
            check(finite, "{}: {} holds values that are not finite", path.string(), name);
            out.add(name, formats::DType::F64, shape, data);
        }
    }});
    out.write(path);
}

template Unmatched load_state_dict(nn::Module<float>&, const std::filesystem::path&, Match);
template Unmatched load_state_dict(nn::Module<double>&, const std::filesystem::path&, Match);
template void save_state_dict(nn::Module<float>&, const std::filesystem::path&);
template void save_state_dict(nn::Module<double>&, const std::filesystem::path&);

}  // namespace inkling::models
