// Numbers made with PyTorch (tests/reference/make_*.py), read as arrays:
//   const auto all = reference("nn.json");
//   const Array<double> x = array_from<double>(all["Linear"]["x"]);     // {"shape": [2, 3], "data": [...]}
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/array/array.h"
#include "formats/files/file.h"
#include "tests/paths.h"

namespace inkling::testing {

inline nlohmann::json reference(const std::string& name) {
    return nlohmann::json::parse(formats::read_file(tests_path("reference/" + name)));
}

template <class T>
Array<T> array_from(const nlohmann::json& stored) {
    const auto shape = stored.at("shape").get<std::vector<std::size_t>>();
    const auto values = stored.at("data").get<std::vector<double>>();
    Array<T> a(Shape(shape.begin(), shape.end()));
    check(values.size() == a.size(), "reference: {} values for shape {}", values.size(), a.shape());
    std::transform(values.begin(), values.end(), a.data(), [](double v) { return static_cast<T>(v); });
    return a;
}

}  // namespace inkling::testing
