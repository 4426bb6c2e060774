#include "models/transformer.h"

#include <algorithm>

#include "engine/array/gemm.h"
#include "engine/base/interrupt.h"
#include "engine/base/names.h"
#include "models/families/family.h"
#include "models/tensor_ops.h"
#include "nn/checkpoint.h"
#include "nn/init.h"

namespace inkling::models {

template <class T>
Transformer<T>::Transformer(const Architecture& architecture, std::optional<Generator> random) : config(architecture) {
    config.validate();
    layers.resize(config.n_layer);
    if (!random) return;
    const std::vector<ParameterSpec> all = models::parameters(config);
    // Skips these streams so that old seeds still give the same model.
    const auto drawn = std::count_if(all.begin(), all.end(), [](const ParameterSpec& p) { return !is_norm(p.name); });
    random->next_stream += static_cast<std::uint64_t>(drawn);
    for (const ParameterSpec& p : all) at(p) = nn::parameter<T>(p.shape, p.initial, *random);
}

// With every possible adapter.
static std::vector<ParameterSpec> all_specs(const Architecture& a) {
    return models::parameters(a, 1, [](const ParameterSpec&) { return true; });
}

template <class T>
void Transformer<T>::set(const ParameterSpec& p, const Weight<T>& values, WeightStorage storage) {
    const bool as_it_is = !may_be_packed(p) || (storage.inference && p.name == ParameterName::token_table) ||
                          (storage.type == WeightType::fp32 && !values.packed());
    at(p) = as_it_is ? values : values.as(storage.type);
}

template <class T>
void Transformer<T>::freeze(WeightStorage storage, const ParameterFilter& which) {
    for (const ParameterSpec& p : models::parameters(config))
        if (!which || which(p)) set(p, at(p).detach(), storage);
}

template <class T>
void Transformer<T>::share(const Transformer& other) {
    config = other.config, adapter = other.adapter;
    outer = other.outer, layers = other.layers, read_rows = other.read_rows;
}

template <class T>
void Transformer<T>::share_adapters(const Transformer& other) {
    adapter = other.adapter;
    for (const ParameterSpec& p : all_specs(config)) {
        if (!is_lora(p)) continue;
        at(p) = other.at(p);
        weights_of(p).lora_alpha = other.weights_of(p).lora_alpha;
    }
}

template <class T>
void Transformer<T>::adapt(const AdapterOptions& options, const ParameterFilter& targets,
                           std::optional<Generator> random) {
    const std::size_t r = options.rank;
    check(r > 0, "adapters: expected a rank of at least 1, got {}", r);
    check(options.dropout >= 0 && options.dropout < 1, "adapters: expected a dropout in [0, 1), got {}",
          options.dropout);
    adapter = options;
    for (const ParameterSpec& p : all_specs(config)) {
        if (is_lora(p) || at(p).defined()) at(p) = is_lora(p) ? Weight<T>() : at(p).detach();
        weights_of(p).lora_alpha.reset();
    }
    if (!random) return;
    for (const ParameterSpec& p : models::parameters(config, r, targets))
        if (is_lora(p)) at(p) = nn::parameter<T>(p.shape, p.initial, *random);
}

template <class T>
void Transformer<T>::merge_adapters() {
    for (const ParameterSpec& p : models::parameters(config)) {
        Weights<T>& w = weights_of(p);
        w[p.slot] = Tensor<T>(values(p), true);
        if (p.slot != Slot::weight) continue;
        w.lora_a = w.lora_b = Tensor<T>();
        w.lora_alpha.reset();
    }
    adapter = {};
}

template <class T>
ConstArray<T> Transformer<T>::rows(const ParameterSpec& p, std::size_t begin, std::size_t end) const {
    const Weight<T>& weight = at(p);
    const auto some_of = [&](const ConstArray<T>& all) { return all.sliced(0, begin, end).contiguous(); };
    check(weight.defined() || read_rows, "rows: {} has no values", family(config.family).name_of(p));
    ConstArray<T> values;
    if (!weight.defined())
        values = read_rows(p, begin, end);
    else
        values = weight.packed() ? ConstArray<T>(weight.packed()->template unpacked_rows<T>(begin, end))
                                 : some_of(weight.value());
    if (p.slot != Slot::weight || !has_adapter(p)) return values;
    const Weights<T>& w = weights_of(p);
    Array<T> sum = values.clone(), b = some_of(w.lora_b.value()).clone();
    b *= static_cast<T>(adapter.scale(w));
    gemm(b, w.lora_a.value(), sum, {.accumulate = true});
    return sum;
}

template <class T>
void Transformer<T>::each_part(const ParameterSpec& p, const std::function<void(const ConstArray<T>&)>& part) const {
    const std::size_t all = p.shape.front(), width = size_of(p.shape) / all,
                      rows_at_once = std::max<std::size_t>(1, (std::size_t{64} << 20) / sizeof(T) / width);
    for (std::size_t begin = 0; begin < all; begin += rows_at_once)
        part(rows(p, begin, std::min(all, begin + rows_at_once)));
}

template <class T>
void Transformer<T>::read_all() {
    for (const ParameterSpec& p : models::parameters(config))
        if (!at(p).defined()) at(p) = Tensor<T>(read_rows(p, 0, p.shape.front()), true);
}

template <class T>
std::vector<ParameterSpec> Transformer<T>::specs() const {
    std::vector<ParameterSpec> all =
        models::parameters(config, adapter.rank, [this](const ParameterSpec& p) { return has_adapter(p); });
    for (ParameterSpec& p : all)
        if (is_lora(p)) p.shape = at(p).shape();
    return all;
}

template <class T>
std::uint64_t Transformer<T>::adapter_count() const {
    std::uint64_t all = 0;
    for (const ParameterSpec& p : specs()) all += is_lora(p) ? size_of(p.shape) : 0;
    return all;
}

template <class T>
void Transformer<T>::visit(const nn::Visitor<T>& visitor) {
    const Family& names = family(config.family);
    for (const ParameterSpec& p : specs()) visitor(names.name_of(p), at(p), p.kind);
}

template <class T>
std::string Transformer<T>::module_name(const ParameterSpec& p) const {
    using enum ParameterName;
    const bool whole = may_be_packed(p) || (is_norm(p.name) && p.name != query_norm && p.name != key_norm);
    if (!whole || p.slot != Slot::weight) return "";
    const std::string name = family(config.family).name_of(p);
    return name.substr(0, name.rfind('.'));
}

template <class T>
std::vector<std::string> Transformer<T>::observable() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < layers.size(); ++i)
        for (const char* const name : {"input", "heads", "attention_output", "mlp_output", "output"})
            names.push_back("layers." + std::to_string(i) + "." + name);
    names.push_back("final");
    for (const ParameterSpec& p : specs())
        if (std::string name = module_name(p); !name.empty()) names.push_back(std::move(name));
    return names;
}

template <class T>
Tensor<T> Transformer<T>::hidden(const IdArray& ids, const HiddenOptions<T>& options) const {
    const std::size_t start = options.cache ? options.cache->length() : 0;
    check(ids.rank() == 2 && ids.dim(1) >= 1 && start + ids.dim(1) <= config.block_size,
          "{}: expected ids (B, T) with T from 1 to the context of {}, got shape {} after {}", config.family,
          config.block_size, ids.shape(), start);
    TensorOps<T> ops(*this, options);
    check(!(ops.drops() || ops.adapters_drop()) || options.random,
          "{}: training with dropout needs random numbers: pass a Generator", config.family);
    const IdArray& begins = options.documents.begins;
    check(!begins.defined() || begins.shape() == ids.shape(), "{}: begins must be (B, T) like ids, got {} and {}",
          config.family, begins.shape(), ids.shape());
    check(!options.cache || (std::is_same_v<T, float> && ids.dim(0) == 1 && !begins.defined() && NoGrad::active()),
          "{}: a cache is for one text, in float32, without a gradient", config.family);
    if (options.observers) {
        const std::vector<std::string> names = observable();
        const auto module_of = [](const std::string& name) {  // of one of its parameters
            return name.substr(0, name.rfind(name.ends_with(".bias") ? ".bias" : ".weight"));
        };
        for (const auto& [name, observer] : *options.observers)
            check(
                std::count(names.begin(), names.end(), name) > 0,
                "{}: nothing in the model has the name '{}'{}: layers.N.input, heads, attention_output, mlp_output or "
                "output with N from 0 to {}, final, or a module such as {} is required",
                config.family, shown_name(name), did_you_mean(module_of(name), names), layers.size() - 1, names.back());
    }
    ops.ids = ids;
    ops.angles = rotary_->tables(start, ids.dim(1));
    if (options.cache) {
        options.cache->reserve(start + ids.dim(1));
        if (options.cache->shifted.defined()) ops.shifted = options.cache->shifted.clone();
    }

    Tensor<T> x = decoder::embed(ops, *this);  // (B, T, C)
    for (std::size_t i = 0; i < layers.size(); ++i) {
        Interruptible::check();
        if (checkpoint_activations && !options.attention_weights && !options.observers) {
            x = nn::checkpoint<T>(
                [this, i, ops](const Tensor<T>& in, Generator* keys) mutable {
                    ops.random = keys;
                    return decoder::layer(ops, config, layers[i], i, in);
                },
                x, ops.random);
        } else {
            x = decoder::layer(ops, config, layers[i], i, std::move(x));
        }
    }
    if (options.cache) options.cache->next_shifted = ops.shifted;
    const Region region("final norm");
    return ops.observed("final", decoder::norm(ops, config, outer[ParameterName::final_norm], x));
}

template <class T>
Tensor<T> Transformer<T>::logits(const Tensor<T>& x, Generator* random, const Observers<T>* observers) const {
    Generator none;
    TensorOps<T> ops(*this, {.random = random ? random : &none, .observers = observers});
    return decoder::logits(ops, config, head(), x);
}

template <class T>
Tensor<T> Transformer<T>::lens(const Tensor<T>& x) const {
    TensorOps<T> ops(*this, {});
    return logits(decoder::norm(ops, config, outer[ParameterName::final_norm], x));
}

template <class T>
Tensor<T> Transformer<T>::loss(const IdArray& ids, const IdArray& targets, Generator* random,
                               const Documents& documents) const {
    const Tensor<T> x = hidden(ids, {.documents = documents, .random = random});
    Interruptible::check();
    const Region region("head");
    if (head().lora_a.defined()) return cross_entropy(logits(x, random), targets);
    return linear_cross_entropy(x, head().weight, targets, kIgnore, 0, config.softcap);
}

template class Transformer<float>;
template class Transformer<double>;

}  // namespace inkling::models
