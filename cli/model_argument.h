// The --model of a command that reads one, while a training run may be replacing it.
#pragma once

#include <string>

#include "models/folder.h"

namespace inkling::cli {

// Files of one and the same state of the folder: when they are replaced while they are read, they are read again.
models::LoadedModel load_current(const std::string& path, models::Kept kept = models::Kept::fp32);

}  // namespace inkling::cli
