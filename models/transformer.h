// A decoder-only transformer (Vaswani et al. 2017; Radford et al. 2018) of any Architecture. It embeds tokens and
// positions, runs the layers, and ends in a norm and a head. A layer is causal attention, then a feed-forward part:
// each has a norm before it, and is added to the residual stream (models/decoder.h).
//   Transformer<float> model(architecture);
//   Tensor<float> loss = model.loss(ids, targets);   // both (B, T)
//   model.outer[ParameterName::token_table].weight; model.layers[0][ParameterName::up].bias   // its parameters
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/ops/plain/attention_masks.h"
#include "models/adapter.h"
#include "models/kv_cache.h"
#include "models/parameters.h"
#include "models/rotary_positions.h"

namespace inkling::models {

// How a model stores its matrices; vectors and the table of positions stay float32.
struct WeightStorage {
    WeightType type = WeightType::fp32;
    // For inference: the token table, whose rows are only looked up, stays unpacked, and bfloat16 weights are not
    // widened to float32.
    bool inference = false;
    // The parameters stay in the model's files; Transformer::rows reads them.
    bool in_files = false;
};

// Receives a value of a pass and returns it, or another of its shape that takes its place.
template <class T>
using Observer = std::function<Tensor<T>(const Tensor<T>&)>;
// By name, N from 0: "layers.N.input", "layers.N.attention_output" and "layers.N.mlp_output" as they are added to it,
// "layers.N.output" (B, T, C); "layers.N.heads" (B, T, H, d), each head's output; "final" (B, T, C), after the last
// norm; and outputs of modules under their names in files: "transformer.h.0.mlp.c_fc", the head's in logits().
template <class T>
using Observers = std::map<std::string, Observer<T>>;

template <class T>
struct HiddenOptions {
    // The text so far, for one row of ids, which cache->advance() then appends to it. Without gradients, in float32.
    KvCache* cache = nullptr;
    Documents documents = {};                             // several texts in a row, each computed as if alone
    std::vector<Tensor<T>>* attention_weights = nullptr;  // appends each layer's attention weights (B, H, T, T)
    Generator* random = nullptr;                          // keys for dropout, in training mode
    const Observers<T>* observers = nullptr;
};

template <class T>
class Transformer : public nn::Module<T> {
  public:
    using Layer = NamedWeights<T>;

    // Draws initial values with keys of `random`; without it tensors stay undefined until at() sets them. Throws for a
    // invalid architecture.
    explicit Transformer(const Architecture& architecture, std::optional<Generator> random = Generator{1337, 0});

    // Under the names of the family's files: transformer.h.0.attn.c_attn.weight, ... Throws for a part without a name
    // in the family.
    void visit(const nn::Visitor<T>& visitor) override;

    // Freezes all parameters, or those that `which` selects, and stores them as given.
    using nn::Module<T>::freeze;
    void freeze(WeightStorage storage, const ParameterFilter& which = nullptr);
    // Sets a parameter to these values, stored as given. Packed ones have no gradient.
    void set(const ParameterSpec& p, const Weight<T>& values, WeightStorage storage);
    // Shares the tensors of another model of the same sizes, with its adapters, or only the adapters.
    void share(const Transformer& other);
    void share_adapters(const Transformer& other);

    // Its parameters: the architecture's, each weight followed by its adapter, if any.
    std::vector<ParameterSpec> specs() const;

    // Freezes all parameters and gives those that `targets` selects new low-rank adapters (models/adapter.h). Each A
    // takes a key of `random`; without it A and B stay undefined until at() sets them.
    void adapt(const AdapterOptions& options, const ParameterFilter& targets, std::optional<Generator> random);
    std::uint64_t adapter_count() const;  // elements of the adapters
    // Adds the adapters to their weights, which become float32, and unfreezes all parameters.
    void merge_adapters();
    // Rows [begin, end) of a parameter, or numbers of a vector, as float32 and with its adapter merged.
    ConstArray<T> rows(const ParameterSpec& p, std::size_t begin, std::size_t end) const;
    ConstArray<T> values(const ParameterSpec& p) const { return rows(p, 0, p.shape.front()); }
    // The same for all rows, in parts of at most 64 MB, so that a model in files is never whole in memory.
    void each_part(const ParameterSpec& p, const std::function<void(const ConstArray<T>&)>& part) const;
    // Reads the parameters of a model in files.
    void read_all();
    bool has_adapter(const ParameterSpec& p) const { return may_be_adapted(p) && weights_of(p).lora_a.defined(); }

    Weights<T>& weights_of(const ParameterSpec& p) { return (in_layer(p.name) ? layers[p.layer] : outer)[p.name]; }
    const Weights<T>& weights_of(const ParameterSpec& p) const {
        return (in_layer(p.name) ? layers[p.layer] : outer)[p.name];
    }
    Weight<T>& at(const ParameterSpec& p) { return weights_of(p)[p.slot]; }
    const Weight<T>& at(const ParameterSpec& p) const { return weights_of(p)[p.slot]; }
    // The head: the token table if tied, unless it is stored separately as another type.
    Weights<T> head() const {
        Weights<T> own = outer[ParameterName::head];
        if (!own.weight.defined()) own.weight = outer[ParameterName::token_table].weight;
        return own;
    }

    // ids (B, T) -> (B, T, C), after the last norm. Interruptible before each layer.
    Tensor<T> hidden(const IdArray& ids, const HiddenOptions<T>& options = {}) const;
    Tensor<T> logits(const Tensor<T>& hidden, Generator* random = nullptr,
                     const Observers<T>* observers = nullptr) const;  // (..., C) -> (..., V)
    // The logit lens: what the model would say if this output of a layer were the last one's, (..., C) -> (..., V).
    Tensor<T> lens(const Tensor<T>& x) const;
    Tensor<T> forward(const IdArray& ids) const { return logits(hidden(ids)); }
    Tensor<T> loss(const IdArray& ids, const IdArray& targets, Generator* random = nullptr,
                   const Documents& documents = {}) const;  // mean nats a token

    // The names that observers may have, in the order of the pass.
    std::vector<std::string> observable() const;
    // "transformer.h.0.mlp.c_fc" for its weight; "" if it is not a module whose output can be observed.
    std::string module_name(const ParameterSpec& p) const;

    RotaryTables<T> rotary_tables(std::size_t start, std::size_t rows) const { return rotary_->tables(start, rows); }

    // Reads rows of a parameter that is undefined here (WeightStorage::in_files).
    std::function<Array<T>(const ParameterSpec& p, std::size_t begin, std::size_t end)> read_rows;

    Architecture config;
    AdapterOptions adapter;               // rank 0: none
    Layer outer;                          // outside of layers: tables, last norm, head
    std::vector<Layer> layers;            // of each layer
    bool checkpoint_activations = false;  // recompute each layer in backward instead of keeping its activations

  private:
    std::shared_ptr<RotaryPositions<T>> rotary_ = std::make_shared<RotaryPositions<T>>(config);
};

extern template class Transformer<float>;
extern template class Transformer<double>;

}  // namespace inkling::models
