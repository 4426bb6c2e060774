// Families of models. Each file of this folder maps one family's files to an Architecture and back: config.json, names
// and layouts of tensors, keys of GGUF. Nothing else in the program knows a family.
//   Architecture a = family("gpt2").defaults(true);        // as --arch has it
//   Architecture b = read_config(json, "config.json");     // the family is its model_type's
//   Architecture c = read_gguf_architecture(GgufFile::open("model.gguf"));
// A new family is one file and one line in registry.cpp.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/parameters.h"

namespace inkling::formats {
class GgufFile;
class GgufWriter;
}  // namespace inkling::formats
namespace inkling::models {

class ConfigKeys;

struct Family {
    std::string name;                      // of --arch
    std::vector<std::string> model_types;  // of config.json: the first is written
    std::vector<std::string> flags;        // of `inkling train`, for this family only
    bool biased;                           // its models usually have biases
    Architecture (*defaults)(bool bias) = nullptr;

    std::string transformers_class;  // that opens it
    std::string bias_key;            // of config.json: whether there are biases; "": as in defaults
    // The other keys of config.json, except those that all families share: vocab_size, tie_word_embeddings, token ids,
    // dtype. Reads them into the defaults, or writes them.
    void (*map_config)(ConfigKeys&, Architecture&) = nullptr;

    // Names of tensors in files; a layer's follow layer_prefix and its number.
    std::string layer_prefix;
    std::map<ParameterName, std::string> names;
    std::string optional_prefix = "";  // some files leave it out of every name, or have this one instead:
    std::vector<std::string> other_prefixes = {};
    std::string other_head = "";            // the head's name in some files, and in adapters
    std::vector<std::string> ignored = {};  // parts of tensor names that are not weights
    bool linear_in_out = false;             // files store linear weights as (in, out)
    bool qkv_by_head = false;               // files order rows of query, key and value (H, 3, d), not (3, H, d)
    bool always_biased = false;             // files of models without biases hold zeros
    bool always_qkv_biased = false;         // the same for queries, keys and values alone

    std::string gguf_name = "";     // in GGUF files; "": llama.cpp lacks this family
    bool gguf_interleaved = false;  // there, the two rows of a rotated pair are adjacent
    bool gguf_untied = false;       // there, a tied head is a copy of the token table
    bool gguf_windows = false;      // there, attention may have a window
    bool gguf_output_bias = true;   // there, attention's output may have a bias
    // The family's own keys there. Throws BadInput for variants that llama.cpp does not compute.
    void (*set_gguf_keys)(formats::GgufWriter&, const Architecture&) = nullptr;
    void (*read_gguf_keys)(const formats::GgufFile&, Architecture&) = nullptr;

    std::string layer_of(const ParameterSpec& p) const;    // transformer.h.0.attn.c_attn, as adapters name layers
    std::string name_of(const ParameterSpec& p) const;     // transformer.h.0.attn.c_attn.weight, or .lora_A.weight
    bool stored_transposed(const ParameterSpec& p) const;  // whether files hold it (in, out)
    bool has_flag(const std::string& flag) const;          // of `flags` above
    std::vector<ParameterSpec> zero_biases(const Architecture& a) const;  // in files, but not in the model
};

// Throws Error, listing the known names, for an unknown one.
const Family& family(const std::string& name);
std::vector<std::string> family_names();
const std::vector<Family>& families();

// The whole config.json. end_of_text < 0: the tokenizer has no such token.
nlohmann::json config_json(const Architecture& architecture, std::int64_t end_of_text = -1);
// Throws BadInput for an unknown kind of model and for missing or invalid values; `what` is the file's name.
Architecture read_config(const nlohmann::json& json, const std::string& what);

// The keys of a GGUF file. Throws BadInput for variants that llama.cpp does not compute.
void set_gguf_architecture(formats::GgufWriter& out, const Architecture& a);
// Biases and a tied head follow from the tensors. Throws BadInput, naming the file and the key, for an unknown
// architecture and for missing or invalid values.
Architecture read_gguf_architecture(const formats::GgufFile& file);
std::string gguf_name(const ParameterSpec& p);  // blk.0.attn_qkv.weight, llama.cpp's for all families

}  // namespace inkling::models
