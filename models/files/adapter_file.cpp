#include "models/files/adapter_file.h"

#include <set>

#include "engine/base/check.h"
#include "formats/files/file.h"

namespace inkling::models {
namespace {

formats::SafetensorsFile open_adapter(const std::filesystem::path& path) {
    formats::refuse_other_form(path, {"adapter_model.bin"},
                               "import torch, safetensors.torch as s; s.save_file(torch.load('{0}/adapter_model.bin', "
                               "weights_only=True), '{0}/adapter_model.safetensors')");
    return formats::SafetensorsFile::open(path);
}

}  // namespace

AdapterFile::AdapterFile(const std::filesystem::path& path) : path_(path.string()), file_(open_adapter(path)) {
    std::set<std::string> adapters;
    for (const auto& [stored, info] : file_.tensors()) {
        std::string name = stored;
        for (const std::string matrix : {".lora_A", ".lora_B", ".lora_embedding_A", ".lora_embedding_B"}) {
            const std::size_t at = stored.find(matrix + ".");
            if (at == std::string::npos) continue;
            const std::size_t end = at + matrix.size(), tail = stored.ends_with(".weight") ? 7 : 0;
            name = stored.substr(0, end) + stored.substr(stored.size() - tail);
            adapters.insert(stored.substr(end, stored.size() - tail - end));
        }
        names_.emplace(name, stored);
    }
    check<BadInput>(adapters.size() <= 1 && names_.size() == file_.tensors().size(),
                    "{}: holds several adapters: save one of them", path_);
    check<BadInput>(!names_.empty(), "{}: holds no tensors", path_);
}

Array<float> AdapterFile::read(const std::string& name, const Shape& shape) const {
    Array<float> values(shape);
    const std::uint64_t not_finite = file_.read(names_.at(name), values.data(), values.size());
    check<BadInput>(not_finite == 0, "{}: {} holds values that are not finite", path_, name);
    return values;
}

}  // namespace inkling::models
