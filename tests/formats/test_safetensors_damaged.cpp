// Safetensors files that break each rule of the format, by mistake or on purpose.
#include "formats/safetensors/safetensors.h"
#include "tests/formats/safetensors_bytes.h"

using namespace inkling::safetensors_bytes;

TEST_CASE("safetensors: the smallest files are legal, and every prefix of a file is refused", "[models]") {
    CHECK_ALL(refusal_of(file_of("{}", 0)) == "", refusal_of(file_of("{\"__metadata__\":{}}", 0)) == "");
    CHECK_ALL(refusal_of(tensor("F32", "[]", "[0,4]"), 4) == "", refusal_of(tensor("F32", "[0]", "[0,0]"), 0) == "");
    CHECK(refusal_of(tensor("F32", "[0,18446744073709551615]", "[0,0]"), 0) == "");
    CHECK(refusal_of(tensor("F4", "[2]", "[0,1]"), 1) == "");
    CHECK(refusal_of(file_of("{\"a\":" + tensor("U8", "[0]", "[1,1]") + ",\"b\":" + tensor("U8", "[1]", "[0,1]") +
                                 ",\"c\":" + tensor("U8", "[0]", "[0,0]") + "}",
                             1)) == "");
    CHECK(refusal_of(valid_file()) == "");
    const std::string valid = valid_file();
    for (std::size_t size = 0; size < valid.size(); ++size) {
        CAPTURE(size);
        CHECK(refusal_of(valid.substr(0, size)) != "");
    }
    for (const std::size_t more : {1, 2, 8, 4096}) CHECK(refusal_of(valid + std::string(more, ' ')) != "");
    const std::string message = refusal_of(file_of("{\"\\n\\u001b" + std::string(100000, 'n') + "\":1}", 0));
    CHECK(message.size() < 300);  // messages stay one short line whatever a name holds
    CHECK_ALL(message.find('\n') == std::string::npos, message.find('\x1b') == std::string::npos);
}

TEST_CASE("safetensors: header lengths that attack or cut short are refused", "[models]") {
    const std::string valid = valid_file();
    const std::uint64_t size = valid.size();
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::vector<std::uint64_t> lengths = {0,        1,           7,           size - 9, size - 8,   size - 7,
                                                size,     100'000'000, 100'000'001, 1u << 31, most >> 32, most / 2 + 1,
                                                most - 7, most};
    for (const std::uint64_t length : lengths) {
        CAPTURE(length);
        CHECK(refusal_of(with_length(length, valid.substr(8))) != "");
    }
    CHECK(refusal_of("") == "f: a safetensors file has at least 8 bytes, got 0");
    CHECK_THAT(refusal_of("1234567"), contains("got 7"));
    CHECK_THAT(refusal_of(with_length(100'000'001, "{}")), contains("at most 100000000"));
    CHECK_THAT(refusal_of(with_length(100'000'000, "{}")), contains("cut short"));
    CHECK_THAT(refusal_of("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
               contains("git lfs pull"));
}

TEST_CASE("safetensors: a header that is not one strict JSON object of tensors is refused", "[models]") {
    CHECK_THAT(refusal_of(file_of(" {}", 0)), contains("must begin with {"));
    CHECK_THAT(refusal_of(file_of("[]", 0)), contains("must begin with {"));
    CHECK_THAT(refusal_of(file_of("\xef\xbb\xbf{}", 0)), contains("must begin with {"));
    for (const char* header :
         {"{", "{}}", "{} x", "{\"a\"}", "{,}", "{}\1", "{\"\xff\":1}", "{\"\xc0\xaf\":1}", "{\"\\ud800\":1}"}) {
        CAPTURE(header);
        CHECK_THAT(refusal_of(file_of(header, 0)), contains("f: header"));
    }
    CHECK(refusal_of(file_of(std::string("{}\0", 3), 0)) != "");
    for (const char* value : {"1", "null", "[]", "\"x\"", "{\"a\":1}", "{\"a\":null}", "{\"a\":{\"b\":\"c\"}}"}) {
        CAPTURE(value);  // metadata must be strings
        CHECK_THAT(refusal_of(file_of(fmt::format("{{\"__metadata__\":{}}}", value), 0)), contains("__metadata__"));
    }
    for (const char* entry :
         {"1", "null", "[]", "\"x\"", "{}", R"({"dtype":"U8","shape":[1]})", R"({"dtype":"U8","data_offsets":[0,1]})",
          R"({"shape":[1],"data_offsets":[0,1]})", R"({"dtype":1,"shape":[1],"data_offsets":[0,1]})",
          R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})", R"({"dtype":"U8","shape":[[1]],"data_offsets":[0,1]})",
          R"({"dtype":"U8","shape":{"a":1},"data_offsets":[0,1]})"}) {
        CAPTURE(entry);
        CHECK(refusal_of(entry, 1) != "");
    }
    CHECK(refusal_of(tensor("F33", "[1]", "[0,4]"), 4) == "f: tensor \"a\": dtype \"F33\" is unknown");
    CHECK(refusal_of(tensor("f32", "[1]", "[0,4]"), 4) != "");
}

TEST_CASE("safetensors: numbers that are none or overflow, holes, overlaps and shared ranges", "[models]") {
    CHECK(refusal_of(tensor("U8", "[1]", "[0,1]"), 1) == "");
    for (const char* number : {"1.0", "1e0", "-1", "\"1\"", "true", "null", "18446744073709551616", "1e400"}) {
        CAPTURE(number);
        CHECK(refusal_of(tensor("U8", fmt::format("[{}]", number), "[0,1]"), 1) != "");
        CHECK(refusal_of(tensor("U8", "[1]", fmt::format("[0,{}]", number)), 1) != "");
    }
    for (const char* zero : {"-0", "0.0", "0e0", "false"}) {
        CAPTURE(zero);
        CHECK(refusal_of(tensor("U8", fmt::format("[{}]", zero), "[0,0]"), 0) != "");
        CHECK(refusal_of(tensor("U8", "[1]", fmt::format("[{},1]", zero)), 1) != "");
    }
    CHECK_THAT(refusal_of(tensor("F32", "[2]", "[0,4]"), 4), contains("8 bytes"));
    CHECK_THAT(refusal_of(tensor("F32", "[1]", "[4,0]"), 4), contains("end before they begin"));
    CHECK_THAT(refusal_of(tensor("F4", "[3]", "[0,1]"), 1), contains("whole bytes"));
    CHECK_THAT(refusal_of(tensor("U8", "[4294967296,4294967296]", "[0,0]"), 0), contains("64 bits"));
    CHECK_THAT(refusal_of(tensor("F32", "[4611686018427387904]", "[0,0]"), 0), contains("64 bits"));
    CHECK(refusal_of(tensor("F32", "[4611686018427387905]", "[0,4]"), 4) != "");
    CHECK(refusal_of(tensor("U8", "[18446744073709551615,0]", "[18446744073709551615,18446744073709551615]"), 0) != "");
    for (const char* offsets : {"[]", "[0]", "[0,1,1]", "{}", "[[0],[1]]", "1"}) {
        CAPTURE(offsets);
        CHECK(refusal_of(tensor("U8", "[1]", offsets), 1) != "");
    }
    CHECK_THAT(refusal_of(tensor("U8", "[1]", "[1,2]"), 2), contains("begins at byte 1, where 0 is due"));
    const auto pair = [](const char* first, const char* second, std::size_t size) {
        return refusal_of(
            file_of("{\"a\":" + tensor("U8", "[4]", first) + ",\"b\":" + tensor("U8", "[4]", second) + "}", size));
    };
    CHECK_ALL(pair("[0,4]", "[4,8]", 8) == "", pair("[4,8]", "[0,4]", 8) == "");
    CHECK_THAT(pair("[0,4]", "[5,9]", 9), contains("begins at byte 5, where 4 is due"));
    CHECK_THAT(pair("[0,4]", "[3,7]", 7), contains("begins at byte 3, where 4 is due"));
    CHECK_THAT(pair("[0,4]", "[0,4]", 4), contains("no overlaps"));
    CHECK_THAT(pair("[0,4]", "[4,8]", 7), contains("cut short"));
    CHECK_THAT(pair("[0,4]", "[4,8]", 9), contains("added to"));
}

TEST_CASE("safetensors: 100,000 tensors are read, or refused when they share a range", "[models][unsanitized]") {
    std::string apart = "{", shared = "{";
    for (int i = 0; i < 100000; ++i) {
        apart +=
            fmt::format("{}\"t{}\":{}", i == 0 ? "" : ",", i, tensor("U8", "[1]", fmt::format("[{},{}]", i, i + 1)));
        shared += fmt::format("{}\"t{}\":{}", i == 0 ? "" : ",", i, tensor("U8", "[100000]", "[0,100000]"));
    }
    const std::string bytes = file_of(apart + "}", 100000);
    CHECK_ALL(parse(bytes).tensors().size() == 100000, refusal_of(file_of(shared + "}", 100000)) != "");
}
