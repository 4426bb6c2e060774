#include "models/adapter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "engine/base/names.h"
#include "models/families/family.h"

namespace inkling::models {
namespace {

std::vector<ParameterSpec> candidates(const Architecture& a) {
    std::vector<ParameterSpec> all = parameters(a);
    std::erase_if(all, [](const ParameterSpec& p) { return !may_be_adapted(p); });
    return all;
}

bool names_layer(const std::string& name, const std::string& layer) {
    return layer == name || layer.ends_with("." + name);
}

std::string last_part(const std::string& layer) { return layer.substr(layer.rfind('.') + 1); }

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream in(text);
    for (std::string name; std::getline(in, name, ',');) {
        name.erase(0, name.find_first_not_of(' '));
        name.erase(name.find_last_not_of(' ') + 1);
        if (!name.empty()) names.push_back(name);
    }
    return names;
}

}  // namespace

ParameterFilter adapter_targets(const Architecture& a, const std::string& text) {
    const std::vector<std::string> wanted = split_names(text);
    std::vector<std::string> known;
    std::set<std::string> layers;
    const Family& names = family(a.family);
    for (const ParameterSpec& p : candidates(a)) {
        const std::string layer = names.layer_of(p), last = last_part(layer);
        if (std::count(known.begin(), known.end(), last) == 0) known.push_back(last);
        const auto named = [&](const std::string& name) {
            return name == kAllLinear ? p.kind.role != nn::Role::head : names_layer(name, layer);
        };
        if (std::any_of(wanted.begin(), wanted.end(), named)) layers.insert(layer);
    }
    check(!wanted.empty(), "--lora-targets must be {} or some of {}", kAllLinear, fmt::join(known, ", "));
    for (const std::string& name : wanted) {
        const bool found = name == kAllLinear || std::any_of(layers.begin(), layers.end(), [&](const auto& layer) {
                               return names_layer(name, layer);
                           });
        check(found, "--lora-targets must be {} or some of {}, got '{}'{}", kAllLinear, fmt::join(known, ", "),
              shown_name(name), did_you_mean(name, known));
    }
    return [&names, layers](const ParameterSpec& p) { return may_be_adapted(p) && layers.contains(names.layer_of(p)); };
}

std::uint64_t adapter_count(const Architecture& a, std::size_t rank, const ParameterFilter& targets) {
    std::uint64_t all = 0;
    for (const ParameterSpec& p : parameters(a, rank, targets)) all += is_lora(p) ? size_of(p.shape) : 0;
    return all;
}

std::vector<std::string> target_names(const Architecture& a, const ParameterFilter& targets) {
    std::vector<std::string> names;
    const std::vector<ParameterSpec> all = candidates(a);
    const Family& family_names = family(a.family);
    const auto only_targets = [&](const std::string& name) {
        return std::all_of(all.begin(), all.end(), [&](const ParameterSpec& p) {
            return targets(p) || !names_layer(name, family_names.layer_of(p));
        });
    };
    for (const ParameterSpec& p : all) {
        if (!targets(p)) continue;
        const std::string layer = family_names.layer_of(p);
        std::string name = last_part(layer);
        while (!only_targets(name)) {  // one more part of the name; the whole of it is the layer's alone
            const std::size_t dot = layer.rfind('.', layer.size() - name.size() - 2);
            name = layer.substr(dot == std::string::npos ? 0 : dot + 1);
        }
        if (std::count(names.begin(), names.end(), name) == 0) names.push_back(name);
    }
    return names;
}

}  // namespace inkling::models
