// Headers that nearly all files of the library include, parsed once: this halves the time to compile a file. Only the
// build knows this header. Every other file still includes what it uses (tests/package compiles each header alone).
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/autograd/op_gradients.h"
#include "engine/base/parallel.h"
