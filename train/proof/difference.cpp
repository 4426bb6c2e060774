#include "train/proof/difference.h"

#include <algorithm>
#include <iterator>

#include "engine/base/check.h"
#include "formats/safetensors/safetensors.h"
#include "train/run/checkpoint.h"

namespace inkling::train {

namespace fs = std::filesystem;
using formats::FileTensor;
using formats::SafetensorsFile;

namespace {

float number_at(const FileTensor& tensor, std::size_t i) {
    float number = 0;
    tensor.widen(i, &number, 1);
    return number;
}

// Both hold float32.
std::string difference_of_tensors(const SafetensorsFile& there, const SafetensorsFile& here) {
    for (const char* const key : kTrained) {
        const auto text = [&](const SafetensorsFile& file) {
            const auto found = file.metadata().find(key);
            return found == file.metadata().end() ? "none" : found->second;
        };
        if (text(there) != text(here)) return fmt::format("its {} differs", key);
    }
    for (const auto& [name, tensor] : there.tensors())
        if (!here.contains(name)) return fmt::format("{} is there and not here", name);
    for (const auto& [name, tensor] : here.tensors()) {
        if (!there.contains(name)) return fmt::format("{} is here and not there", name);
        const FileTensor& other = there.tensor(name);
        if (tensor.layout != other.layout || tensor.shape != other.shape)
            return fmt::format("{} has another shape", name);
        const auto at = std::ranges::mismatch(other.bytes, tensor.bytes).in1 - other.bytes.begin();
        if (at == std::ssize(tensor.bytes)) continue;
        const std::size_t i = static_cast<std::size_t>(at) / tensor.layout->bytes;
        return fmt::format("number {} of {} is {} there and {} here", i, name, number_at(other, i),
                           number_at(tensor, i));
    }
    return "";
}

}  // namespace

std::string difference(const HashedCheckpoint& there, const HashedCheckpoint& here) {
    for (const auto& [name, hash] : here.files) {
        const auto found = there.files.find(name);
        if (found == there.files.end()) return fmt::format("{} is missing there", name);
        if (found->second == hash) continue;
        if (!name.ends_with(".safetensors")) return fmt::format("{} is not the one that is made here", name);
        const std::string tensors = difference_of_tensors(SafetensorsFile::open(there.folder / name),
                                                          SafetensorsFile::open(here.folder / name));
        return fmt::format("{}: {}", name, tensors.empty() ? "its header differs" : tensors);
    }
    return "";
}

}  // namespace inkling::train
