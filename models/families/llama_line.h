// Shared by Llama and its kin: sizes, names of tensors, keys of config.json. Each family's file has the rest.
#pragma once

#include "models/families/config_keys.h"
#include "models/families/family.h"

namespace inkling::models {

// RMS norms with gains, rotary positions, shared key/value heads, a gated feed-forward part with silu, an untied head,
// no biases.
Architecture llama_line_defaults(const char* family);
void map_llama_line(ConfigKeys& keys, Architecture& a, const SizeDefaults& defaults, std::size_t head_dim = 0);
// The window of attention; 0: it holds the context.
std::size_t sliding_window(const ConfigReader& in, const Architecture& a);
// The same for Qwen, which may have a window in some layers: one that is smaller than the context is refused.
void map_qwen(ConfigKeys& keys, Architecture& a, std::size_t head_dim = 0);
// Named as --arch has it; in GGUF files by the same name.
Family llama_line_family(const char* name, const char* transformers_class);

}  // namespace inkling::models
