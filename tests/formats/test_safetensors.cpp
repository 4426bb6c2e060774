#include "formats/safetensors/safetensors.h"

#include "tests/formats/safetensors_bytes.h"

using namespace inkling::safetensors_bytes;
namespace fs = std::filesystem;

TEST_CASE("safetensors: written tensors are read back, and their bytes are those of the package", "[models]") {
    const testing::ScratchFolder dir;
    const fs::path path = dir.path("model.safetensors");
    const std::vector<float> w = {1.5f, -0.0f, 1e-42f, INFINITY, -3.25f, 0.1f};
    const std::vector<double> d = {0.1, -1e300};
    const std::vector<std::uint64_t> u = {0, ~0ull};
    const std::vector<std::int64_t> i = {std::numeric_limits<std::int64_t>::min()};
    const std::vector<std::uint8_t> bytes = {1, 2, 255};
    SafetensorsWriter out;
    out.set_metadata("format", "pt"), out.set_metadata("text", "\"quoted\"\n\xc3\xa9");
    out.add("w", DType::F32, {2, 3}, w.data()), out.add("d", DType::F64, {2}, d.data());
    out.add("u", DType::U64, {2}, u.data()), out.add("i", DType::I64, {}, i.data());
    out.add("bytes", DType::U8, {3, 1}, bytes.data()), out.add("empty", DType::F32, {4, 0}, nullptr);
    const std::vector<float> finite = {1.5f, -0.0f, 1e-42f, 3e38f, -3.25f, 0.1f};
    out.add_rounded("same", DType::F32, {6}, finite.data());
    out.write(path);

    const auto file = SafetensorsFile::open(path);
    CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"text", "\"quoted\"\n\xc3\xa9"}});
    CHECK(file.tensors().size() == 7);
    CHECK(file.tensor("w").shape == std::vector<std::uint64_t>{2, 3});
    CHECK(file.tensor("i").shape.empty());
    CHECK(file.tensor("empty").shape == std::vector<std::uint64_t>{4, 0});
    CHECK_ALL(file.contains("w"), !file.contains("W"));
    for (const auto& [name, t] : file.tensors())  // the widest first, behind a padded header: each is aligned
        CHECK(reinterpret_cast<std::uintptr_t>(t.bytes.data()) % t.layout->bytes == 0);

    std::vector<float> w2(6), same(6);
    file.read("w", w2.data(), 6), file.read("same", same.data(), 6);
    CHECK_ALL(std::memcmp(w2.data(), w.data(), 24) == 0, std::memcmp(same.data(), finite.data(), 24) == 0);
    std::vector<double> d2(2);
    file.read("d", d2.data(), 2);
    CHECK_ALL(d2 == d, std::memcmp(file.tensor("u").bytes.data(), u.data(), 16) == 0);
    CHECK(std::memcmp(file.tensor("i").bytes.data(), i.data(), 8) == 0);
    CHECK(std::memcmp(file.tensor("bytes").bytes.data(), bytes.data(), 3) == 0);
    file.read("empty", w2.data(), 0);
    const std::vector<float> a = {1, 2};
    const std::vector<std::uint16_t> h = {0x3c00};
    SafetensorsWriter again;
    again.add("z", DType::F16, {1}, h.data()), again.add("b", DType::F32, {1}, a.data() + 1);
    again.add("a", DType::F32, {1}, a.data());
    again.write(dir.path("f"));
    const std::string header = "{\"a\":" + tensor("F32", "[1]", "[0,4]") + ",\"b\":" + tensor("F32", "[1]", "[4,8]") +
                               ",\"z\":" + tensor("F16", "[1]", "[8,10]") + "}";
    CHECK(formats::read_file(dir.path("f")) == with_length(168, header + std::string(168 - header.size(), ' ')) +
                                                   std::string("\0\0\x80\x3f\0\0\0\x40\0\x3c", 10));
}

TEST_CASE("safetensors: 16-bit floats are rounded on writing and widened on reading", "[models]") {
    const testing::ScratchFolder dir;
    std::vector<float> x(100000);  // more than the block that is converted at a time
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::ldexp(static_cast<float>(i % 1000) - 500.0f, static_cast<int>(i % 40) - 35);
    x[0] = -0.0f;
    x[1] = 65519.0f;
    x[2] = 0.1f;
    SafetensorsWriter out;
    out.add_rounded("f16", DType::F16, {100, 1000}, x.data()), out.add_rounded("bf16", DType::BF16, {100000}, x.data());
    out.write(dir.path("f"));

    const auto file = SafetensorsFile::open(dir.path("f"));
    CHECK(fs::file_size(dir.path("f")) < 400000 + 500);
    std::vector<float> y(x.size());
    std::vector<double> z(x.size());
    for (const char* name : {"f16", "bf16"}) {
        file.read(name, y.data(), y.size()), file.read(name, z.data(), z.size());
        CHECK_ALL(std::vector<double>(y.begin(), y.end()) == z, std::signbit(y[0]));
        const float step = std::string(name) == "f16" ? 0x1p-11f : 0x1p-8f;
        bool near = true;
        for (std::size_t i = 2; i < x.size(); ++i)
            near = near && std::abs(y[i] - x[i]) <= step * std::abs(x[i]) + 0x1p-25f;
        CHECK(near);
    }
    file.read("f16", y.data(), y.size());
    CHECK_ALL(y[1] == 65504, y[2] == 0.0999755859375f);
    file.read("bf16", y.data(), y.size());
    CHECK(y[1] == 65536);
}

TEST_CASE("safetensors: data need not be aligned, but have the size and type that is asked for", "[models]") {
    std::string bytes =
        file_of("{\"a\":" + tensor("F64", "[1]", "[1,9]") + ",\"o\":" + tensor("BOOL", "[1]", "[0,1]") + "}", 9);
    const double value = 0.1;
    std::memcpy(bytes.data() + bytes.size() - 8, &value, 8);
    double x = 0;
    float rounded = 0;
    parse(bytes).read("a", &x, 1);
    parse(bytes).read("a", &rounded, 1);
    CHECK_ALL(x == 0.1, rounded == 0.1f);
    const std::string whole = valid_file();  // a missing tensor, another size or another type is refused
    const SafetensorsFile file = parse(whole);
    std::vector<float> eight(8);
    CHECK_THROWS_WITH(file.read("v", eight.data(), 6), "f: tensor \"v\" is missing");
    CHECK_THROWS_WITH(file.read("w", eight.data(), 5), "f: tensor \"w\" must hold 5 numbers, got 6, shape (2, 3)");
    const std::string integers = file_of("{\"a\":" + tensor("I32", "[]", "[0,4]") + "}", 4);
    CHECK_THROWS_WITH(parse(integers).read("a", eight.data(), 1),
                      "f: tensor \"a\" is I32, which is not read: F64, F32, F16 and BF16 are");
}

TEST_CASE("safetensors: doubles are read as they are, or rounded to the nearest float", "[models]") {
    const std::vector<double> x = {0.1,   -0.0,   std::numeric_limits<double>::denorm_min(), 1e-42,       -0x1.000001p0,
                                   1e300, -1e300, std::numeric_limits<double>::infinity(),   std::nan("")};
    std::string bytes = file_of("{\"a\":" + tensor("F64", "[9]", "[0,72]") + "}", 72);
    std::memcpy(bytes.data() + bytes.size() - 72, x.data(), 72);
    std::vector<double> same(9);
    parse(bytes).read("a", same.data(), 9);
    CHECK(std::memcmp(same.data(), x.data(), 72) == 0);
    std::vector<float> rounded(9);
    parse(bytes).read("a", rounded.data(), 9);
    for (std::size_t i = 0; i + 1 < x.size(); ++i)
        WITH_INFO(x[i],
                  CHECK_ALL(rounded[i] == static_cast<float>(x[i]), std::signbit(rounded[i]) == std::signbit(x[i])));
    CHECK(rounded[3] > 0);  // below the smallest normal float, and not flushed
    CHECK(std::isnan(rounded[8]));
}

TEST_CASE("safetensors: the writer refuses what cannot be, and a failed write leaves the old file", "[models]") {
    const testing::ScratchFolder dir;
    const std::vector<float> x(4);
    SafetensorsWriter out;
    out.add("a", DType::F32, {4}, x.data());
    CHECK_THROWS_WITH(out.add("a", DType::F32, {4}, x.data()), contains("added twice"));
    CHECK_THROWS_AS(out.add("__metadata__", DType::F32, {4}, x.data()), Error);
    CHECK_THROWS_AS(out.add("b", DType::F32, {1ull << 60, 4}, x.data()), Error);
    CHECK_THROWS_AS(out.add("b", DType::F4, {3}, x.data()), Error);
    CHECK_THROWS_AS(out.add_rounded("b", DType::F64, {4}, x.data()), Error);
    const auto refuses = [&](DType type, float value) {
        const std::vector<float> bad = {1, value};
        SafetensorsWriter one;
        one.add_rounded("b", type, {2}, bad.data());
        CHECK_THROWS_WITH(one.write(dir.path("f")),
                          contains("which is not finite as " + std::string(layout_of(type).name)));
    };
    for (const DType type : {DType::F32, DType::F16, DType::BF16})
        for (const float bad : {std::nanf(""), INFINITY, -INFINITY}) refuses(type, bad);
    refuses(DType::F16, 65520);  // rounds to infinity
    refuses(DType::BF16, -0x1.ffp127f);
    const std::vector<float> largest = {65519.0f, -0x1.fefffep127f};
    out.add_rounded("f16", DType::F16, {1}, largest.data());
    out.add_rounded("bf16", DType::BF16, {1}, largest.data() + 1);
    out.add("\xff", DType::F32, {4}, x.data());
    CHECK_THROWS_WITH(out.write(dir.path("f")), contains("UTF-8"));
    CHECK(fs::is_empty(dir.path()));
    const std::vector<float> ones(4, 1.0f);
    SafetensorsWriter full;
    full.add("a", DType::F32, {4}, ones.data());
    CHECK_THROWS_WITH(full.write("/dev/full"), "cannot write /dev/full: No space left on device");
    CHECK_THROWS_WITH(full.write(dir.path()), contains("Is a directory"));
    CHECK_THROWS_AS(SafetensorsFile::open(dir.path("none")), BadInput);
    full.write(dir.path("f")), full.write(dir.path("f"));
    CHECK(SafetensorsFile::open(dir.path("f")).tensor("a").count == 4);
}
