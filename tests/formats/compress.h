// Compressed files for tests.
#pragma once

#include <zlib.h>
#include <zstd.h>

namespace inkling::testing {

inline std::string gzip(std::string_view text) {
    z_stream z = {};
    deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&z, text.size()) + 64, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data())), z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(packed.data()), z.avail_out = static_cast<uInt>(packed.size());
    deflate(&z, Z_FINISH);
    packed.resize(z.total_out);
    deflateEnd(&z);
    return packed;
}

// A frame of zstd that holds no text; there are 16 kinds.
inline std::string skipped_frame(std::string_view content, unsigned kind = 0) {
    std::string frame = {static_cast<char>(0x50 + kind), '\x2A', '\x4D', '\x18'};
    for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(content.size() >> shift & 0xFF);
    return frame + std::string(content);
}

// With a checksum.
inline std::string zstd(std::string_view text) {
    ZSTD_CCtx* const z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress2(z, packed.data(), packed.size(), text.data(), text.size()));
    ZSTD_freeCCtx(z);
    return packed;
}

}  // namespace inkling::testing
