// The keys of a config.json. ConfigReader reads them; every error is a BadInput that names the file and the key.
// ConfigKeys maps them to members of an Architecture in both directions, so that a family names each key once:
//   keys.map("n_layer", a.n_layer);    // reads the key into the member, or writes the member under the key
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/json_object.h"
#include "models/architecture.h"

namespace inkling::models {

class ConfigReader : public formats::JsonObject {
  public:
    ConfigReader(const nlohmann::json& object, const std::string& what) : JsonObject(object, what + ": ") {}

    using JsonObject::number;
    std::string text(const char* key, const std::string& otherwise) const {
        return JsonObject::text(key).value_or(otherwise);
    }
    // A whole number from 1 to 2^30. Without `otherwise` the key must be there.
    std::size_t size(const char* key, std::size_t otherwise = 0) const;
    double number(const char* key, double otherwise) const { return JsonObject::number(key).value_or(otherwise); }
    double positive(const char* key, double otherwise = 0) const;  // a number above 0, likewise
    bool flag(const char* key, bool otherwise) const { return JsonObject::flag(key).value_or(otherwise); }
    ConfigReader object(const char* key) const;  // an empty one if missing
    Activation activation(const char* key, Activation otherwise) const;

    // For a choice of which this program supports one value.
    void require_flag(const char* key, bool value) const;
    void require_activation(const char* key, Activation value) const;
    void require_text(const char* key, const std::string& value) const;  // also where the key is absent
    std::string shown(const char* key) const;                            // for messages: one short line of ASCII

    template <class... Args>
    void require(bool good, fmt::format_string<Args...> format, Args&&... args) const {
        if (!good) throw BadInput(place_ + fmt::format(format, std::forward<Args>(args)...));
    }
};

const char* activation_name(Activation activation);                  // as config.json has it
void validate_read(const Architecture& a, const std::string& file);  // validate(), as a BadInput of this file

class ConfigKeys : public ConfigReader {
  public:
    explicit ConfigKeys(const ConfigReader& file) : ConfigReader(file), reads(true) {}
    ConfigKeys();  // writes `out`; as a reader it has no key

    const bool reads;
    nlohmann::json out = nlohmann::json::object();

    // `otherwise` as above.
    void map(const char* key, std::size_t& n, std::size_t otherwise = 0) {
        reads ? void(n = size(key, otherwise)) : write(key, n);
    }
    void map(const char* key, double& x, double otherwise) { reads ? void(x = number(key, otherwise)) : write(key, x); }
    void map(const char* key, bool& on, bool otherwise) { reads ? void(on = flag(key, otherwise)) : write(key, on); }
    void map(const char* key, Activation& kind, Activation otherwise) {
        reads ? void(kind = activation(key, otherwise)) : write(key, activation_name(kind));
    }
    void map_positive(const char* key, double& x, double otherwise = 0) {
        reads ? void(x = positive(key, otherwise)) : write(key, x);
    }
    template <class T>
    void write(const char* key, const T& value) {  // not when it reads
        if (!reads) out[key] = value;
    }
};

// The defaults of transformers for missing keys; older files lack some.
struct SizeDefaults {
    std::size_t context;
    std::size_t kv_heads = 0;  // 0: num_attention_heads
    std::size_t heads = 0;     // 0: must be there
};

// Keys that families share: layers, heads, widths and context; those with heads of keys, dropout, the norms' epsilon
// and rotary positions; the width of a head, by default hidden_size / num_attention_heads.
void map_sizes(ConfigKeys& keys, Architecture& a, const SizeDefaults& defaults);
void map_rotary_sizes(ConfigKeys& keys, Architecture& a, const SizeDefaults& defaults);
void map_head_dim(ConfigKeys& keys, Architecture& a, std::size_t otherwise = 0);
// Rotary positions: rope_parameters (or another object), or the older rope_scaling and the keys beside it. With a
// part_key a part of each head may be rotated.
void map_rope(ConfigKeys& keys, Architecture& a, const char* theta_key = "rope_theta", const char* part_key = nullptr,
              const char* object_key = "rope_parameters");

}  // namespace inkling::models
