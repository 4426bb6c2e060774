// Reading GGUF: every type widened as by llama.cpp's own package (make_gguf_models.py), every kind of value, and an
// error in one line for each broken rule.
#include "formats/gguf/gguf_file.h"

#include <limits>

#include "tests/support/gguf.h"

namespace {

// The bytes of a file, part by part.
struct GgufBytes {
    std::string bytes = "GGUF";

    template <class T>
    GgufBytes& add(T value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    GgufBytes& u32(std::uint32_t value) { return add(value); }
    GgufBytes& u64(std::uint64_t value) { return add(value); }
    GgufBytes& text(const std::string& value) {
        u64(value.size()).bytes += value;
        return *this;
    }
    GgufBytes& tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type,
                      std::uint64_t offset) {
        text(name).u32(static_cast<std::uint32_t>(shape.size()));
        for (const std::uint64_t extent : shape) u64(extent);
        return u32(type).u64(offset);
    }
    GgufBytes& data(std::size_t size) {
        bytes.resize((bytes.size() + 31) / 32 * 32 + size);
        return *this;
    }
    GgufFile parse() const { return GgufFile::parse(std::as_bytes(std::span(bytes)), "x"); }
};

GgufBytes head(std::uint64_t tensors, std::uint64_t pairs, std::uint32_t version = 3) {
    return GgufBytes().u32(version).u64(tensors).u64(pairs);
}
std::string refused(const GgufBytes& bytes) {
    return error_of([&] { bytes.parse(); });
}

}  // namespace

TEST_CASE("gguf file: every type is widened as llama.cpp's own package does it", "[formats]") {
    const auto file = GgufFile::open(tests_path("reference/gguf/types.gguf"));
    std::size_t types = 0;
    for (const auto& [name, t] : file.tensors()) {
        if (name.ends_with(".f32")) continue;
        INFO(name);
        CHECK(t.layout->name == name);
        std::vector<float> values(256), wanted(256);
        std::uint64_t not_finite = file.read(name, values.data(), 256);
        file.read(name + ".f32", wanted.data(), 256);
        CHECK(std::memcmp(values.data(), wanted.data(), 4 * 256) == 0);
        CHECK(not_finite == 0);
        t.release(0, t.count);
        ++types;
    }
    CHECK(types == 14);
}

TEST_CASE("gguf file: values of every kind, and those of another kind than is asked for", "[formats]") {
    GgufBytes b = head(0, 15);
    b.text("i8").u32(1).add<std::int8_t>(-3);
    b.text("u16").u32(2).add<std::uint16_t>(65535);
    b.text("u64").u32(10).u64(~std::uint64_t{0});
    b.text("f32").u32(6).add(1e-5f);
    b.text("f64").u32(12).add(0.1);
    b.text("flag").u32(7).add<std::uint8_t>(1);
    b.text("text").u32(8).text("caf\u00e9");
    b.text("texts").u32(9).u32(8).u64(2).text("a").text("");
    b.text("i32s").u32(9).u32(5).u64(2).add<std::int32_t>(-1).add<std::int32_t>(7);
    b.text("flags").u32(9).u32(7).u64(2).add<std::uint8_t>(1).add<std::uint8_t>(0);
    b.text("u8").u32(0).add<std::uint8_t>(200);
    b.text("i16").u32(3).add<std::int16_t>(-300);
    b.text("u32").u32(4).u32(70000);
    b.text("i64").u32(11).add<std::int64_t>(-5);
    b.text("inf").u32(6).add(std::numeric_limits<float>::infinity());
    const GgufFile file = b.parse();
    const std::pair<const char*, double> numbers[] = {{"u8", 200}, {"i16", -300},   {"u32", 70000},
                                                      {"i64", -5}, {"u64", 0x1p64}, {"u16", 65535},
                                                      {"i8", -3},  {"f64", 0.1},    {"f32", 1e-5}};
    for (const auto& [key, value] : numbers) CHECK(file.number(key) == value);
    CHECK(error_of([&] { file.number("inf"); }) == "x: inf must be a finite number");
    CHECK(error_of([&] { file.under("in"); }) == "x: inf must be a finite number");
    CHECK(file.size("u16") == 65535u);
    CHECK_FALSE(file.size("none"));
    CHECK(file.flag("flag") == true);
    CHECK(file.text("text") == "caf\u00e9");
    CHECK(file.texts("texts") == std::vector<std::string_view>{"a", ""});
    CHECK(file.is_list("texts"));
    CHECK_FALSE(file.is_list("text"));
    CHECK(file.under("i3") == nlohmann::json{{"2s", nlohmann::json::array()}});
    CHECK(file.numbers("i32s", 2) == std::vector<double>{-1, 7});
    CHECK(file.numbers("flags", 2) == std::vector<double>{1, 0});
    CHECK(file.texts("none").empty());
    for (const std::string key : {"inf", "f64", "u64", "i8", "text"})
        CHECK(
            error_of([&] { file.size(key); }).starts_with("x: " + key + " must be a whole number of at least 0, got "));
    CHECK(error_of([&] { file.number("flag"); }) == "x: flag must be a number, got true");
    CHECK(error_of([&] { file.flag("u16"); }) == "x: u16 must be true or false, got 65535");
    CHECK(error_of([&] { file.text("f32"); }) == "x: f32 must be a text, got 1e-05");
    CHECK(error_of([&] { file.text("texts"); }) == "x: texts must be a text, got []");
    CHECK(error_of([&] { file.texts("text"); }) == "x: text must be a list of texts");
    CHECK(error_of([&] { file.texts("i32s"); }) == "x: i32s must be a list of texts");
    CHECK(error_of([&] { file.numbers("texts", 2); }) == "x: texts must be a list of numbers");
    CHECK(error_of([&] { file.numbers("i32s", 3); }) == "x: i32s must hold 3 numbers, got 2");
    CHECK(error_of([&] { file.tensor("t"); }) == "x: tensor \"t\" is missing");
}

TEST_CASE("gguf file: any cut is one line, and so is every other broken rule", "[formats]") {
    GgufBytes good = head(2, 2);
    good.text("general.alignment").u32(4).u32(32);
    good.text("list").u32(9).u32(8).u64(1).text("deep");
    good.tensor("a", {3, 2}, 0, 0).tensor("b", {32}, 8, 32).data(32 + 34);
    CHECK(good.parse().tensor("a").shape == std::vector<std::uint64_t>{2, 3});
    const GgufFile parsed = good.parse();
    parsed.tensor("a").release(0, 6);  // memory of the caller's: nothing to free
    for (std::size_t size = 0; size < good.bytes.size(); ++size) {
        GgufBytes cut = good;
        cut.bytes.resize(size);
        const std::string error = refused(cut);
        INFO(size << ": " << error);
        CHECK(error.starts_with("x: "));
        CHECK(error.find('\n') == std::string::npos);
    }
    const std::uint64_t most = ~std::uint64_t{0};
    const std::pair<GgufBytes, const char*> wrong[] = {
        {GgufBytes{"version https://git-lfs"}, "a Git LFS pointer, not the model: run git lfs pull"},
        {GgufBytes{"GGML"}, "not a GGUF file: it does not begin with GGUF"},
        {head(0, 0, 1), "GGUF version 1 is not supported: 2 and 3 are"},
        {head(0, 0, 3u << 24), "a big-endian GGUF file, which is not read"},
        {head(1u << 20, 0), "1048576 tensors, of at most 250000"},
        {head(1, 0), "1 tensors do not fit its 24 bytes: the file was cut short"},
        {head(0, most), "18446744073709551615 keys, of at most 100000"},
        {head(0, 1).u64(most).u64(0), "ends inside a key, at byte 40: the file was cut short, or is damaged"},
        {head(0, 1).text(std::string(70000, 'k')).u32(4).u32(1), "a key has 70000 bytes, of at most 65535"},
        {head(0, 1).text("k").u32(13).u64(0), "k has a value of the unknown type 13"},
        {head(0, 2).text("k").u32(4).u32(1).text("k").u32(4).u32(1), "the key k appears twice"},
        {head(0, 1).text("k").u32(9).u32(10).u64(most / 8),
         " elements of a list do not fit its 49 bytes: the file was"},
        {head(0, 1).text("k").u32(9).u32(9).u64(1), "k has lists in a list, which is not read"},
        {head(0, 1).text("split.no").u32(2).add<std::uint16_t>(1), "is part 2 of a model in 0 files: name the first"},
        {head(2, 0).tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).data(64), "tensor \"t\" appears twice"}};
    for (const auto& [bytes, said] : wrong) CHECK_THAT(refused(bytes), contains("x: ", said));
    for (const std::uint32_t alignment : {0u, 24u, 1u << 21})
        CHECK(refused(head(0, 1).text("general.alignment").u32(4).u32(alignment)) ==
              fmt::format("x: general.alignment must be a power of two up to 2^20, got {}", alignment));
    const auto one = [](const std::vector<std::uint64_t>& shape, std::uint32_t type, std::uint64_t offset) {
        return refused(head(1, 0).tensor("t", shape, type, offset).data(64));
    };
    CHECK_ALL(one({8, 2}, 0, 0) == "", one({}, 0, 0) == "");
    CHECK(one({1, 1, 1, 1, 1}, 0, 0) == "x: tensor \"t\": has 5 dimensions, of at most 4");
    CHECK(one({8, 0}, 0, 0) == "x: tensor \"t\": its shape has no numbers, or too many");
    CHECK(one({1u << 31, 1u << 31, 1u << 31}, 0, 0) == "x: tensor \"t\": its shape has no numbers, or too many");
    CHECK(one({8}, 99, 0) == "x: tensor \"t\": is of the unknown type 99");
    CHECK(one({8, 4}, 8, 0) == "x: tensor \"t\": its rows are 8 long, and Q8_0 needs a multiple of 32");
    CHECK(one({8}, 0, 32) == "x: tensor \"t\" begins at byte 32, where 0 is due: no holes, no overlaps");
    CHECK(one({1000}, 0, 0) == "x: tensor \"t\" takes 4000 bytes: the file was cut short");
    CHECK(one({17}, 0, 0) == "x: tensor \"t\" ends at byte 132 of 128: the file was cut short");
    std::vector<float> values(256);
    const auto unread = head(1, 0).tensor("t", {256}, 16, 0).data(66);
    CHECK(error_of([&] { unread.parse().read("t", values.data(), 256); }) ==
          "x: tensor \"t\" is IQ2_XXS, which is not read: take a file of another type, or make it one by "
          "llama-quantize --allow-requantize IN OUT Q8_0");
}

TEST_CASE("gguf file: a model in several files is opened by its first", "[formats]") {
    const ScratchFolder scratch;
    const std::vector<float> x{1, 2, 3}, y{4, 5};
    const auto write = [&](std::uint32_t part, const char* name, const std::vector<float>& values) {
        formats::GgufWriter out;
        out.set_u32("split.no", part);
        out.set_u32("split.count", 2);
        out.add(name, formats::GgufType::F32, {values.size()}, array_of(values));
        out.write(scratch.path(fmt::format("m-0000{}-of-00002.gguf", part + 1)));
    };
    const fs::path first = scratch.path("m-00001-of-00002.gguf");
    write(0, "x", x);
    CHECK_THAT(error_of([&] { GgufFile::open(first); }), contains("m-00002-of-00002.gguf"));
    write(1, "y", y);
    const GgufFile file = GgufFile::open(first);
    std::vector<float> values(2);
    file.read("y", values.data(), 2);
    CHECK(values == y);
    CHECK(file.contains("x"));
    CHECK_THAT(error_of([&] { GgufFile::open(scratch.path("m-00002-of-00002.gguf")); }),
               contains("is part 2 of a model in 2 files: name the first, *-00001-of-*.gguf"));
    fs::rename(first, scratch.path("m.gguf"));
    CHECK_THAT(error_of([&] { GgufFile::open(scratch.path("m.gguf")); }),
               contains("must be named *-00001-of-00002.gguf"));
}
