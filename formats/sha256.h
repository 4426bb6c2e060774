// SHA-256 (FIPS 180-4), and base64 (RFC 4648), in which browsers want it.
//   "'sha256-" + base64(sha256(script)) + "'"
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace inkling::formats {

class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256& add(std::string_view bytes);
    std::string digest();  // 32 bytes

  private:
    struct Context;  // nettle's, which users of the library need not have
    std::unique_ptr<Context> context_;
};
inline std::string sha256(std::string_view bytes) { return Sha256().add(bytes).digest(); }
std::string hex(std::string_view bytes);
std::string base64(std::string_view bytes);

}  // namespace inkling::formats
