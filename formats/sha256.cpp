#include "formats/sha256.h"

#include <nettle/base16.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>

namespace inkling::formats {
namespace {

const std::uint8_t* data_of(std::string_view bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }

}  // namespace

struct Sha256::Context : sha256_ctx {};

Sha256::Sha256() : context_(std::make_unique<Context>()) { sha256_init(context_.get()); }
Sha256::~Sha256() = default;

Sha256& Sha256::add(std::string_view bytes) {
    sha256_update(context_.get(), bytes.size(), data_of(bytes));
    return *this;
}

std::string Sha256::digest() {
    std::string digest(SHA256_DIGEST_SIZE, '\0');
    sha256_digest(context_.get(), digest.size(), reinterpret_cast<std::uint8_t*>(digest.data()));
    return digest;
}

std::string hex(std::string_view bytes) {
    std::string text(BASE16_ENCODE_LENGTH(bytes.size()), '\0');
    base16_encode_update(text.data(), bytes.size(), data_of(bytes));
    return text;
}

std::string base64(std::string_view bytes) {
    std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
    base64_encode_raw(text.data(), bytes.size(), data_of(bytes));
    return text;
}

}  // namespace inkling::formats
