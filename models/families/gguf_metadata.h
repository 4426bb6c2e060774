// The architecture of a model in the keys of a GGUF file, and llama.cpp's names of tensors there, which are the same
// for all families.
//   set_gguf_architecture(writer, architecture);
//   Architecture a = read_gguf_architecture(GgufFile::open("model.gguf"));
#pragma once

#include <string>

#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/families/family.h"

namespace inkling::models {

std::string gguf_name(const ParameterSpec& p);  // blk.0.attn_qkv.weight

// Writes the keys. Throws BadInput for what llama.cpp does not compute.
void set_gguf_architecture(formats::GgufWriter& out, const Architecture& a);

// Reads the keys; which biases there are, and whether the head is tied, follow from the tensors. Throws BadInput,
// naming the file and the key, for another architecture and for missing or senseless values.
Architecture read_gguf_architecture(const formats::GgufFile& file);

}  // namespace inkling::models
