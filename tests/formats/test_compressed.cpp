#include "formats/files/compressed.h"

#include "tests/formats/compress.h"

static std::string mixed(std::size_t size) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i) text += fmt::format("line {} of many, {}\n", i, i * i % 9973);
    text.resize(size);
    return text;
}

// Reads `packed`, which arrives in pieces of `piece` bytes.
static ReadSome source_of(std::string_view packed, std::size_t piece = 1 << 16) {
    const auto read = [left = packed, piece](char* to, std::size_t most) mutable {
        const std::size_t n = left.substr(0, piece).copy(to, most);
        left.remove_prefix(n);
        return n;
    };
    return decompressed(read, "a.gz");
}

// Unpacks it, reading `step` bytes at a time.
static std::string unpack(std::string_view packed, std::size_t piece = 1 << 16, std::size_t step = 1 << 16) {
    const ReadSome source = source_of(packed, piece);
    std::string text, block(step, '\0');
    while (const std::size_t n = source(block.data(), block.size())) text.append(block, 0, n);
    return text;
}

TEST_CASE("compressed: told by its first bytes, it comes back whole, in parts and however it arrives", "[formats]") {
    CHECK_ALL(compression_of(gzip("a")) == Compression::gzip, compression_of(zstd("a")) == Compression::zstd);
    for (const char* text : {"", "a", "\x1F", "(", "text.gz"}) CHECK(compression_of(text) == Compression::none);
    for (unsigned low = 0; low < 16; ++low)  // a frame to be skipped begins the file
        CHECK(compression_of(skipped_frame("zz", low)) == Compression::zstd);
    for (const char* text : {"P*M", "P*MX", "\x60*M\x18", "A*M\x18"}) CHECK(compression_of(text) == Compression::none);
    for (const std::size_t size : {0, 1, 1000, 300'000}) {  // comes back whole, however it arrives and is read
        const std::string text = mixed(size);
        for (const std::string& packed : {gzip(text), zstd(text), text})
            CHECK_ALL(unpack(packed) == text, unpack(packed, 1, 7) == text, unpack(packed, 1000, 1) == text);
    }
    CHECK(unpack(gzip("one ") + gzip("") + gzip("two")) == "one two");
    CHECK(unpack(zstd("one ") + zstd("") + zstd("two"), 1, 1) == "one two");
    CHECK(unpack(gzip("one") + std::string(512, '\0')) == "one");  // files of several parts, and zeros behind gzip's
    // frames to be skipped, in any place; pzstd writes one before each frame, with its size
    CHECK(unpack(zstd("one") + skipped_frame("zz") + zstd("two")) == "onetwo");
    std::string parallel;
    for (const std::string part : {"one ", "", "two"}) parallel += skipped_frame("size", 14) + zstd(part);
    for (const std::size_t piece : {1u, 3u, 1u << 16}) CHECK(unpack(parallel, piece, 7) == "one two");
    CHECK(unpack(skipped_frame(std::string(300'000, 'z')) + zstd("one") + skipped_frame("")) == "one");
    CHECK(unpack(skipped_frame("zz") + skipped_frame("", 15)).empty());
}

TEST_CASE("compressed: a truncated or damaged file is refused by name, a bomb not read to its end", "[formats]") {
    const std::string text = mixed(200'000);
    for (const std::string& packed : {gzip(text), zstd(text)}) {
        for (const std::size_t size : {std::size_t{4}, std::size_t{9}, packed.size() / 2, packed.size() - 1})
            CHECK_THROWS_WITH(unpack(packed.substr(0, size)),
                              contains("cannot decompress a.gz: it ends early, after " + std::to_string(size)));
        std::string flipped = packed;
        flipped[packed.size() / 2] = static_cast<char>(flipped[packed.size() / 2] ^ 0x55);
        CHECK_THROWS_WITH(unpack(flipped), contains("cannot decompress a.gz: it is damaged at byte"));
        CHECK_THROWS_WITH(unpack(packed + "more"), contains("a.gz: it "));
    }
    const std::string skipped = skipped_frame("zz") + zstd(text);
    for (const std::size_t size : {6u, 9u, 14u})
        CHECK_THROWS_WITH(unpack(skipped.substr(0, size)),
                          contains("a.gz: it ends early, after " + std::to_string(size)));
    CHECK_THROWS_WITH(unpack(skipped_frame("zz") + "no frame"), contains("a.gz: it is damaged at byte 10"));
    const std::string part(16 << 20, 'a');
    std::string bomb;
    for (int i = 0; i < 20; ++i) bomb += zstd(part);
    std::size_t read = 0;
    const ReadSome source = source_of(bomb);
    std::string block(1 << 20, '\0');
    const auto all = [&] {
        while (const std::size_t n = source(block.data(), block.size())) read += n;
    };
    CHECK_THROWS_WITH(all(), contains("cannot decompress a.gz: it grows to more than 500 times its size"));
    CHECK_ALL(read >= 64 << 20, read < 66 << 20);
}
