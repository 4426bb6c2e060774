// Maps an Architecture to the keys of a GGUF file and back, and parameters to llama.cpp's tensor names, which all
// families share.
//   set_gguf_architecture(writer, architecture);
//   Architecture a = read_gguf_architecture(GgufFile::open("model.gguf"));
#pragma once

#include <string>

#include "formats/gguf/gguf_file.h"
#include "formats/gguf/gguf_writer.h"
#include "models/families/family.h"

namespace inkling::models {

std::string gguf_name(const ParameterSpec& p);  // blk.0.attn_qkv.weight

// Writes the keys. Throws BadInput for variants that llama.cpp does not compute.
void set_gguf_architecture(formats::GgufWriter& out, const Architecture& a);

// Reads the keys. Biases and a tied head follow from the tensors. Throws BadInput, naming the file and the key, for an
// unknown architecture and for missing or senseless values.
Architecture read_gguf_architecture(const formats::GgufFile& file);

}  // namespace inkling::models
