// SHA-256 (FIPS 180-4), and base64 (RFC 4648), in which browsers want it.
//   "'sha256-" + base64(sha256(script)) + "'"
#pragma once

#include <string>
#include <string_view>

namespace inkling::formats {

std::string sha256(std::string_view bytes);  // 32 bytes
std::string base64(std::string_view bytes);

}  // namespace inkling::formats
