#include "formats/sha256.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

namespace inkling::formats {
namespace {

const std::uint8_t* data_of(std::string_view bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }

}  // namespace

std::string sha256(std::string_view bytes) {
    sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, bytes.size(), data_of(bytes));
    std::uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&context, sizeof digest, digest);
    return {reinterpret_cast<const char*>(digest), sizeof digest};
}

std::string base64(std::string_view bytes) {
    std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
    base64_encode_raw(text.data(), bytes.size(), data_of(bytes));
    return text;
}

}  // namespace inkling::formats
