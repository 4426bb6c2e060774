// Changes safetensors files so that the header stays JSON, and often still fits the data. So a fuzzer gets past the
// first checks. An input is a header, a NUL, and the data (see safetensors.cpp).
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "formats/safetensors/safetensors.h"
#include "tests/fuzz/target.h"

namespace {

using Json = nlohmann::ordered_json;
using Random = std::minstd_rand;

std::uint64_t pick(Random& random, std::uint64_t n) {
    return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random);
}

constexpr const char* kTypes[] = {"F64", "F32", "F16",  "BF16",    "I64",     "I32", "I16", "I8",  "U64", "U32",
                                  "U16", "U8",  "BOOL", "F8_E4M3", "F8_E5M2", "F4",  "C64", "f32", ""};

std::uint64_t odd_number(Random& random, std::uint64_t old) {
    const std::uint64_t numbers[] = {0,
                                     1,
                                     2,
                                     7,
                                     old + 1,
                                     old - 1,
                                     2 * old,
                                     old / 2,
                                     std::uint64_t{1} << 31,
                                     (std::uint64_t{1} << 32) - 1,
                                     std::uint64_t{1} << 53,
                                     std::uint64_t{1} << 63,
                                     ~std::uint64_t{0},
                                     pick(random, 100)};
    return numbers[pick(random, std::size(numbers))];
}

Json odd_value(Random& random) {
    const Json values[] = {
        nullptr, true, -1, 0.5, 1e300, "", "x", Json::array(), Json::object(), Json::array({1, 2, 3}), "\u0000"};
    return values[pick(random, std::size(values))];
}

// Sets valid offsets and sizes, in the order of the header, and cuts or extends the data to fit.
void lay_out(Json& header, std::string& data) {
    std::uint64_t at = 0;
    for (auto& [name, info] : header.items()) {
        if (name == "__metadata__" || !info.is_object() || !info.contains("shape") || !info["shape"].is_array())
            continue;
        const Json type = info.value("dtype", Json());
        const auto dtype = inkling::formats::dtype_named(type.is_string() ? type.get<std::string>() : "");
        std::uint64_t bits = dtype ? dtype_bits(*dtype) : 0;
        for (const Json& n : info["shape"]) bits *= n.is_number_unsigned() ? n.get<std::uint64_t>() % 64 : 1;
        info["data_offsets"] = {at, at + bits / 8};
        at += bits / 8;
    }
    data.resize(std::min<std::uint64_t>(at, 4096), 'd');
}

void change(Json& header, std::string& data, Random& random) {
    std::vector<std::string> names;
    for (const auto& [name, info] : header.items())
        if (info.is_object()) names.push_back(name);
    if (names.empty() || pick(random, 8) == 0) {
        Json shape = Json::array();
        for (std::uint64_t i = pick(random, 4); i > 0; --i) shape.push_back(pick(random, 5));
        header[fmt::format("t{}", pick(random, 20))] = {
            {"dtype", kTypes[pick(random, std::size(kTypes))]}, {"shape", shape}, {"data_offsets", {0, 0}}};
        return;
    }
    const std::string name = names[pick(random, names.size())];
    Json& info = header[name];
    switch (pick(random, 11)) {
        case 0:
            info["dtype"] = kTypes[pick(random, std::size(kTypes))];
            break;
        case 1:
            if (info.contains("shape") && info["shape"].is_array() && !info["shape"].empty()) {
                Json& n = info["shape"][pick(random, info["shape"].size())];
                n = odd_number(random, n.is_number_unsigned() ? n.get<std::uint64_t>() : 0);
            }
            break;
        case 2:
            if (info.contains("shape") && info["shape"].is_array()) info["shape"].push_back(odd_number(random, 3));
            break;
        case 3:
        case 4:
            if (info.contains("data_offsets") && info["data_offsets"].is_array() && info["data_offsets"].size() == 2) {
                Json& n = info["data_offsets"][pick(random, 2)];
                n = odd_number(random, n.is_number_unsigned() ? n.get<std::uint64_t>() : 0);
            }
            break;
        case 5:
            header.erase(name);
            break;
        case 6:
            header[name + "."] = info;
            break;
        case 7:
            header["__metadata__"][fmt::format("{}", pick(random, 5))] =
                pick(random, 4) ? Json("text") : odd_value(random);
            break;
        case 8:
            info[pick(random, 2) ? "dtype" : pick(random, 2) ? "shape" : "data_offsets"] = odd_value(random);
            break;
        case 9:
            if (!info.empty()) info.erase(info.begin());
            break;
        default:
            data.resize(pick(random, 2) ? data.size() / 2 : std::min<std::size_t>(4096, data.size() + pick(random, 9)),
                        'x');
    }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    Random random(seed + 1);
    const std::string input(reinterpret_cast<const char*>(bytes), size);
    const std::size_t end = std::min(input.find('\0'), input.size());
    Json header = Json::parse(input.substr(0, end), nullptr, false);
    if (!header.is_object() || pick(random, 6) == 0) return LLVMFuzzerMutate(bytes, size, max_size);
    std::string data = end < size ? input.substr(end + 1) : "";
    try {
        for (std::uint64_t i = 1 + pick(random, 4); i > 0; --i) change(header, data, random);
        if (pick(random, 2) == 0) lay_out(header, data);
        std::string output = header.dump(-1, ' ', false, Json::error_handler_t::replace);
        output.append(pick(random, 9), ' ');
        output += '\0' + data;
        if (output.size() > max_size) return LLVMFuzzerMutate(bytes, size, max_size);
        std::memcpy(bytes, output.data(), output.size());
        return output.size();
    } catch (const Json::exception&) {  // an earlier change made something else of a part
        return LLVMFuzzerMutate(bytes, size, max_size);
    }
}
