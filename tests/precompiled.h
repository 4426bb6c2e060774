// What every test sees, parsed once: see cmake/precompiled.h. A test includes what it tests, and no header of this
// list.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <regex>
#include <thread>

#include "cmake/precompiled.h"
#include "engine/base/precision.h"
#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/engine/helpers.h"
#include "tests/paths.h"
#include "tests/reference/read.h"
#include "tests/skip.h"
#include "tests/support/checks.h"
#include "tests/support/error_of.h"
#include "tests/support/json_lines.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/wait.h"

namespace inkling::data {}
namespace inkling::formats {}
namespace inkling::generate {}
namespace inkling::models {}
namespace inkling::nn {}
namespace inkling::train {}
namespace inkling::web {}

using namespace inkling;
using namespace inkling::testing;
using namespace inkling::data;
using namespace inkling::formats;
using namespace inkling::generate;
using namespace inkling::models;
using namespace inkling::nn;
using namespace inkling::train;
using namespace inkling::web;
using nlohmann::json;
using nlohmann::ordered_json;

// Compiled once, in instances.cpp, instead of in every file. Saves a quarter of the time to compile the tests.
extern template class nlohmann::basic_json<>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;
extern template class std::vector<nlohmann::json>;
extern template class std::vector<nlohmann::ordered_json>;
extern template class std::vector<std::string>;
extern template class std::vector<std::int32_t>;
extern template class std::vector<std::size_t>;
extern template class std::vector<float>;
extern template class std::vector<double>;
extern template class std::map<std::string, std::string>;
