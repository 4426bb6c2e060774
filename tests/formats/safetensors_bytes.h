// Safetensors files made by hand, good and bad, for the tests:
//   refusal_of(file_of("{\"a\":" + tensor("F32", "[1]", "[0,4]") + "}", 4)) == ""
#pragma once

#include "formats/safetensors/safetensors.h"

namespace inkling::safetensors_bytes {

inline std::string with_length(std::uint64_t length, const std::string& rest) {
    std::string file(8, '\0');
    for (int i = 0; i < 8; ++i) file[i] = static_cast<char>(length >> (8 * i));
    return file + rest;
}

inline std::string file_of(const std::string& header, std::size_t data_bytes) {
    return with_length(header.size(), header + std::string(data_bytes, '\1'));
}

inline formats::SafetensorsFile parse(const std::string& bytes) {
    return formats::SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "f");
}

// The message of the BadInput for the file; "" if it is accepted. Any other exception fails the test.
inline std::string refusal_of(const std::string& bytes) {
    return testing::error_of([&] { parse(bytes); });
}

inline std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

inline std::string refusal_of(const std::string& entry, std::size_t data_bytes) {
    return refusal_of(file_of("{\"a\":" + entry + "}", data_bytes));
}

// Two tensors and metadata: 24 bytes of F32, then 4 of F16.
inline std::string valid_file() {
    return file_of(R"({"__metadata__":{"format":"pt"},"w":)" + tensor("F32", "[2,3]", "[0,24]") + R"(,"b":)" +
                       tensor("F16", "[2]", "[24,28]") + "}   ",
                   28);
}

}  // namespace inkling::safetensors_bytes
