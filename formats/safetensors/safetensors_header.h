// The header of a safetensors file. It is parsed as a stream and only the tensors are kept, so that a hostile file (100
// MB of header, a million tensors) costs little memory and time. Every rule of the format is checked.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "formats/safetensors/safetensors.h"

namespace inkling::formats {

struct SafetensorsHeader {
    std::map<std::string, TensorInfo> tensors;
    std::map<std::string, std::string> metadata;
    std::size_t end = 0;  // where the data begins
};

// `file` is the whole file. Throws BadInput, one line that begins with `name`.
SafetensorsHeader read_safetensors_header(std::span<const std::byte> bytes, const std::string& name);

}  // namespace inkling::formats
