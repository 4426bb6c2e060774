#include "formats/files/compressed.h"

#include <zlib.h>
#include <zstd.h>

#include <new>
#include <utility>

#include "engine/base/check.h"

namespace inkling::formats {

Compression compression_of(std::string_view head) {
    if (head.starts_with("\x1F\x8B")) return Compression::gzip;
    // A frame, or one to be skipped, with which pzstd begins: \x50 to \x5F
    const bool skipped = head.size() >= 4 && (head[0] & '\xF0') == '\x50' && head.substr(1).starts_with("\x2A\x4D\x18");
    if (head.starts_with("\x28\xB5\x2F\xFD") || skipped) return Compression::zstd;
    return Compression::none;
}

// Shared by both formats: an input block that is refilled when it is used up.
struct Decompressor::Stream {
    Stream(std::string_view head, ReadSome more, std::string n)
        : read_more(std::move(more)), name(std::move(n)), block(1 << 16, '\0'), left(head.copy(block.data(), 64)) {}
    virtual ~Stream() = default;

    // Decompresses from next(), and may produce nothing although there is more.
    virtual std::size_t step(char* to, std::size_t max_size) = 0;

    const char* next() const { return block.data() + at; }
    void use(std::size_t n) { at += n, left -= n, taken += n; }

    // False at the end of the input.
    bool fill() {
        if (left > 0) return true;
        at = 0;
        left = read_more(block.data(), block.size());
        return left > 0;
    }

    [[noreturn]] void refuse(std::string_view what, const char* mend = "make or fetch it again") const {
        throw BadInput(fmt::format("cannot decompress {}: {}: {}", name, what, mend));
    }

    ReadSome read_more;
    const std::string name;
    std::string block;
    std::size_t at = 0, left;  // the input that is there: block[at .. at + left)
    bool within = true;        // a part, not between two
    std::uint64_t taken = 0, made = 0;
};

struct Decompressor::Gzip final : Stream {
    Gzip(std::string_view head, ReadSome more, std::string n) : Stream(head, std::move(more), std::move(n)) {
        if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();  // 16: with gzip's header and checksum
    }
    ~Gzip() override { inflateEnd(&z); }

    std::size_t step(char* to, std::size_t max_size) override {
        if (!within) {  // another part, or zeros that fill a block of a tape
            if (*next() == '\0') return use(1), 0;
            inflateReset(&z);
            within = true;
        }
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next()));
        z.avail_in = static_cast<uInt>(left);
        z.next_out = reinterpret_cast<Bytef*>(to);
        z.avail_out = static_cast<uInt>(max_size);
        const int result = inflate(&z, Z_NO_FLUSH);
        use(left - z.avail_in);
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        if (result == Z_STREAM_END)
            within = false;
        else if (result != Z_OK && result != Z_BUF_ERROR)
            refuse(fmt::format("it is damaged at byte {} ({})", taken, z.msg ? z.msg : "gzip"));
        return max_size - z.avail_out;
    }

    z_stream z = {};
};

struct Decompressor::Zstd final : Stream {
    Zstd(std::string_view head, ReadSome more, std::string n) : Stream(head, std::move(more), std::move(n)) {
        if (!z) throw std::bad_alloc();
    }
    ~Zstd() override { ZSTD_freeDStream(z); }

    std::size_t step(char* to, std::size_t max_size) override {
        ZSTD_inBuffer in = {next(), left, 0};
        ZSTD_outBuffer out = {to, max_size, 0};
        const std::size_t result = ZSTD_decompressStream(z, &out, &in);
        use(in.pos);
        if (ZSTD_isError(result))
            refuse(fmt::format("it is damaged at byte {} ({})", taken, ZSTD_getErrorName(result)));
        within = result != 0;
        return out.pos;
    }

    ZSTD_DStream* const z = ZSTD_createDStream();
};

Decompressor::Decompressor(std::string_view head, ReadSome more, std::string name) {
    if (compression_of(head) == Compression::gzip)
        stream_ = std::make_unique<Gzip>(head, std::move(more), std::move(name));
    else
        stream_ = std::make_unique<Zstd>(head, std::move(more), std::move(name));
}

Decompressor::~Decompressor() = default;

std::size_t Decompressor::read(char* to, std::size_t max_size) {
    constexpr std::uint64_t max_free = 64 << 20, max_growth = 500;
    Stream& s = *stream_;
    max_size = std::min<std::size_t>(max_size, 1 << 20);
    for (;;) {
        // The decoder may hold output that needs no more input.
        const bool more = s.fill();
        if (!more && !s.within) return 0;
        const std::uint64_t before = s.taken;
        const std::size_t n = s.step(to, max_size);
        s.made += n;
        if (s.made > max_free && s.made > max_growth * s.taken)
            s.refuse(fmt::format("it grows to more than {} times its size, which no text does", max_growth),
                     "decompress it yourself if it is one");
        if (n > 0) return n;
        if (!more && s.taken == before) {
            if (!s.within) return 0;
            s.refuse(fmt::format("it ends early, after {} bytes", s.taken));
        }
    }
}

}  // namespace inkling::formats
