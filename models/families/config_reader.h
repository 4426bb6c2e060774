// Reads a config.json by key. Every error is a BadInput that names the file and the key.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/json_object.h"
#include "models/architecture.h"

namespace inkling::models {

// The defaults of transformers for missing keys; older files lack some.
struct SizeDefaults {
    std::size_t context;
    std::size_t head_dim = 0;  // 0: hidden_size / num_attention_heads
    std::size_t kv_heads = 0;  // 0: num_attention_heads
    std::size_t heads = 0;     // 0: must be there
};

class ConfigReader : public formats::JsonObject {
  public:
    ConfigReader(const nlohmann::json& object, const std::string& what) : JsonObject(object, what + ": ") {}

    using JsonObject::number;
    std::string text(const char* key, const std::string& otherwise) const {
        return JsonObject::text(key).value_or(otherwise);
    }
    std::string file_name(const char* key) const;  // of any bytes; "" if missing
    std::size_t size(const char* key) const;       // a whole number from 1 to 2^30
    std::size_t size(const char* key, std::size_t otherwise) const { return has(key) ? size(key) : otherwise; }
    double number(const char* key, double otherwise) const { return JsonObject::number(key).value_or(otherwise); }
    double positive(const char* key, double otherwise) const;  // a number above 0
    bool flag(const char* key, bool otherwise) const { return JsonObject::flag(key).value_or(otherwise); }
    ConfigReader object(const char* key) const;  // an empty one if missing

    // Reads sizes, dropout, the norms' epsilon and rotary positions under the keys that nanochat and the Llama line
    // share.
    void read_rotary_sizes(Architecture& a, const SizeDefaults& defaults) const;
    // Reads rope_parameters (or another object), or the older rope_scaling and the keys beside it. Returns the rotated
    // part of each head.
    double read_rope(Architecture& a, const char* theta_key = "rope_theta",
                     const char* part_key = "partial_rotary_factor", double part = 1,
                     const char* object_key = "rope_parameters") const;
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

const char* activation_name(Activation activation);       // as config.json has it
nlohmann::json rotary_json(const Architecture& a);        // the keys that read_rope reads, of new and of older files
nlohmann::json rotary_sizes_json(const Architecture& a);  // those that read_rotary_sizes reads

}  // namespace inkling::models
