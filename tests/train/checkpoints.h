// Writes the file that makes a folder a checkpoint, for tests of folders.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "formats/safetensors/safetensors.h"

namespace inkling::testing {

inline constexpr double kNotEvaluated = std::numeric_limits<double>::infinity();

inline void write_state(const std::filesystem::path& folder, double val_loss) {
    formats::SafetensorsWriter state;
    state.set_metadata("val_loss", fmt::format("{}", val_loss));
    state.write(folder / "training_state.safetensors");
}

}  // namespace inkling::testing
