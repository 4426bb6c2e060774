// The tensors of an adapter_model.safetensors, under the names of PEFT's save_pretrained. A state dict saved directly
// also has the adapter's name in each: lora_A.default.weight.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/array/array.h"
#include "formats/safetensors/safetensors.h"

namespace inkling::models {

class AdapterFile {
  public:
    // Throws BadInput for a file without tensors, and for several adapters in one.
    explicit AdapterFile(const std::filesystem::path& path);

    const std::string& path() const { return path_; }
    const std::map<std::string, std::string>& names() const { return names_; }  // to those in the file
    bool contains(const std::string& name) const { return names_.contains(name); }
    const formats::TensorInfo& info(const std::string& name) const { return file_.info(names_.at(name)); }
    Array<float> read(const std::string& name, const Shape& shape) const;  // BadInput: values that are not finite

  private:
    std::string path_;
    formats::SafetensorsFile file_;
    std::map<std::string, std::string> names_;
};

}  // namespace inkling::models
