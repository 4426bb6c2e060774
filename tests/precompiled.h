// Headers that are parsed once for all tests: see cmake/precompiled.h.
#pragma once

#include "cmake/precompiled.h"
#include "tests/catch.h"

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
