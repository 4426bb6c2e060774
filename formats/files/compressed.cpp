#include "formats/files/compressed.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace inkling::formats {

Compression compression_of(std::string_view head) {
    if (head.starts_with("\x1F\x8B")) return Compression::gzip;
    // A frame, or one to be skipped, with which pzstd begins: \x50 to \x5F
    const bool skipped = head.size() >= 4 && (head[0] & '\xF0') == '\x50' && head.substr(1).starts_with("\x2A\x4D\x18");
    if (head.starts_with("\x28\xB5\x2F\xFD") || skipped) return Compression::zstd;
    return Compression::none;
}

namespace {

// Bytes as they arrive, in a block that is refilled when it is used up.
struct CompressedInput {
    ReadSome read;
    std::string name;
    std::string block = std::string(1 << 16, '\0');
    std::size_t at = 0, left = 0;  // the bytes that are not used yet: block[at .. at + left)
    std::uint64_t taken = 0;

    std::string_view rest() const { return std::string_view(block).substr(at, left); }
    void use(std::size_t n) { at += n, left -= n, taken += n; }

    // Reads more bytes after them; false at the end.
    bool fill() {
        if (left == 0) at = 0;
        const std::size_t n = read(block.data() + at + left, block.size() - at - left);
        left += n;
        return n > 0;
    }

    [[noreturn]] void refuse(std::string_view what, const char* fix = "make or fetch it again") const {
        throw Damaged(fmt::format("cannot decompress {}: {}: {}", name, what, fix));
    }
};

struct Decoder {
    virtual ~Decoder() = default;
    // Decompresses some of the input, and may produce nothing although there is more.
    virtual std::size_t step(CompressedInput& in, char* to, std::size_t max_size) = 0;

    bool within = true;  // a part, not between two
};

struct Gzip final : Decoder {
    Gzip() {
        if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();  // 16: with gzip's header and checksum
    }
    ~Gzip() override { inflateEnd(&z); }

    std::size_t step(CompressedInput& in, char* to, std::size_t max_size) override {
        if (!within) {  // another part, or zeros that fill a block of a tape
            if (in.rest()[0] == '\0') return in.use(1), 0;
            inflateReset(&z);
            within = true;
        }
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.rest().data()));
        z.avail_in = static_cast<uInt>(in.left);
        z.next_out = reinterpret_cast<Bytef*>(to);
        z.avail_out = static_cast<uInt>(max_size);
        const int result = inflate(&z, Z_NO_FLUSH);
        in.use(in.left - z.avail_in);
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        if (result == Z_STREAM_END)
            within = false;
        else if (result != Z_OK && result != Z_BUF_ERROR)
            in.refuse(fmt::format("it is damaged at byte {} ({})", in.taken, z.msg ? z.msg : "gzip"));
        return max_size - z.avail_out;
    }

    z_stream z = {};
};

struct Zstd final : Decoder {
    Zstd() {
        if (!z) throw std::bad_alloc();
    }
    ~Zstd() override { ZSTD_freeDStream(z); }

    std::size_t step(CompressedInput& in, char* to, std::size_t max_size) override {
        ZSTD_inBuffer from = {in.rest().data(), in.left, 0};
        ZSTD_outBuffer out = {to, max_size, 0};
        const std::size_t result = ZSTD_decompressStream(z, &out, &from);
        in.use(from.pos);
        if (ZSTD_isError(result))
            in.refuse(fmt::format("it is damaged at byte {} ({})", in.taken, ZSTD_getErrorName(result)));
        within = result != 0;
        return out.pos;
    }

    ZSTD_DStream* const z = ZSTD_createDStream();
};

}  // namespace

ReadSome decompressed(ReadSome read, std::string name) {
    const auto in = std::make_shared<CompressedInput>(CompressedInput{std::move(read), std::move(name)});
    while (in->left < 4 && in->fill()) {
    }
    const Compression kind = compression_of(in->rest());
    if (kind == Compression::none) {
        return [in](char* to, std::size_t max_size) {
            if (in->left == 0) return in->read(to, max_size);
            const std::size_t n = in->rest().copy(to, max_size);
            in->use(n);
            return n;
        };
    }
    std::shared_ptr<Decoder> decoder;
    kind == Compression::gzip ? decoder = std::make_shared<Gzip>() : decoder = std::make_shared<Zstd>();
    return [in, decoder, made = std::uint64_t{0}](char* to, std::size_t max_size) mutable -> std::size_t {
        constexpr std::uint64_t max_free = 64 << 20, max_growth = 500;
        max_size = std::min<std::size_t>(max_size, 1 << 20);
        for (;;) {
            // The decoder may hold output that needs no more input.
            const bool more = in->left > 0 || in->fill();
            if (!more && !decoder->within) return 0;
            const std::uint64_t before = in->taken;
            const std::size_t n = decoder->step(*in, to, max_size);
            made += n;
            if (made > max_free && made > max_growth * in->taken)
                in->refuse(fmt::format("it grows to more than {} times its size, which no text does", max_growth),
                           "decompress it yourself if it is one");
            if (n > 0) return n;
            if (!more && in->taken == before) {
                if (!decoder->within) return 0;
                in->refuse(fmt::format("it ends early, after {} bytes", in->taken));
            }
        }
    };
}

}  // namespace inkling::formats
