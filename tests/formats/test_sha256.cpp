// SHA-256 and base64 against their standards' own examples.
#include "formats/sha256.h"

#include "tests/catch.h"

using namespace inkling::formats;

namespace {

std::string hex_of(const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
        text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
        text += "0123456789abcdef"[c & 15];
    }
    return text;
}

}  // namespace

TEST_CASE("sha256: FIPS 180-4's examples, and lengths around a block", "[formats]") {
    CHECK(hex_of(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hex_of(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hex_of(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hex_of(sha256(std::string(1'000'000, 'a'))) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    // python3 -c 'import hashlib; print(hashlib.sha256(b"x" * n).hexdigest())'
    CHECK(hex_of(sha256(std::string(55, 'x'))) == "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
    CHECK(hex_of(sha256(std::string(64, 'x'))) == "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
}

TEST_CASE("base64: RFC 4648's examples", "[formats]") {
    const std::vector<std::pair<std::string, std::string>> examples = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}};
    for (const auto& [bytes, text] : examples) CHECK(base64(bytes) == text);
    CHECK(base64(std::string("\xff\xfe\xfd", 3)) == "//79");
}
