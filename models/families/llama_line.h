// Shared by Llama, Qwen 2 and Qwen 3: sizes, names of tensors, keys of config.json. Each family's file has the rest.
#pragma once

#include <nlohmann/json.hpp>

#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {

// RMS norms with gains, rotary positions, shared key/value heads, a gated feed-forward part with silu, an untied head,
// no biases.
Architecture llama_line_defaults(const char* family);
nlohmann::json llama_line_json(const Architecture& a, const char* transformers_class);
void read_llama_line(const ConfigReader& in, Architecture& a, const SizeDefaults& defaults);  // replaces a's values
// The window of attention; 0: it holds the context.
std::size_t sliding_window(const ConfigReader& in, const Architecture& a);
// The same for Qwen, which may have a window in some layers: one that is smaller than the context is refused.
nlohmann::json qwen_json(const Architecture& a, const char* transformers_class);
void read_qwen(const ConfigReader& in, Architecture& a, const SizeDefaults& defaults);
// Named as --arch has it; in GGUF files by the same name.
Family llama_line_family(const char* name);

}  // namespace inkling::models
