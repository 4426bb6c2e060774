// Headers made to cost memory or work: reading is bounded for any header.
#include "tests/cli/program.h"
#include "tests/formats/safetensors_bytes.h"

using namespace inkling::safetensors_bytes;

constexpr std::size_t kHeader = 99'000'000;

// `first`, as many items as fit, `last`.
template <class Item>
static std::string filled(std::string first, const Item& item, const char* last) {
    std::string header = std::move(first);
    for (std::size_t i = 0; header.size() < kHeader; ++i) {
        if (i > 0) header += ',';
        header += item(i);
    }
    header += last;
    return header;
}

TEST_CASE("safetensors: unknown keys are passed over, and keys that come twice refused", "[models]") {
    const std::string known = R"("dtype":"U8","shape":[1],"data_offsets":[0,1])";
    for (const char* extra :
         {R"("x":1)", R"("x":null)", R"("x":[])", R"("x":{"dtype":"F99","y":[1.5,[true]]})", R"("x":[[[["deep"]]]])",
          R"("x":[-1,1.5,null,false,1e9])", R"("x":-1)", R"("x":true)", R"("y":{"shape":[2]},"x":"text")"}) {
        CAPTURE(extra);
        CHECK(refusal_of(fmt::format("{{{},{}}}", extra, known), 1) == "");
        CHECK(refusal_of(fmt::format("{{{},{}}}", known, extra), 1) == "");
    }
    CHECK_THAT(refusal_of(R"({"x":[[[[[[[1]]]]]]],)" + known + "}", 1), contains("nested deeper"));
    CHECK(refusal_of("{" + known + R"(,"x":[})", 1) != "");
    CHECK_THAT(refusal_of(file_of(R"({"__metadata__":{"a":"","a":""}})", 0)), contains("\"a\" appears twice"));
    std::string ones = "1";  // more dimensions than any array has are refused
    for (int i = 1; i < 64; ++i) ones += ",1";
    CHECK(refusal_of(tensor("U8", "[" + ones + "]", "[0,1]"), 1) == "");
    CHECK_THAT(refusal_of(tensor("U8", "[" + ones + ",1]", "[0,1]"), 1), contains("more than 64"));
}

TEST_CASE("safetensors: a hostile header of 99 MB costs a few times its size, and seconds", "[models][slow]") {
    const std::string empty = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    const testing::ScratchFolder folder;
    folder.write("config.json", R"({"model_type":"gpt2","vocab_size":65,"n_layer":1,"n_head":1,"n_embd":16,)"
                                R"("n_positions":8})");
    std::string zeros = "0";
    for (int i = 0; i < 999; ++i) zeros += ",0";
    for (int kind = 0; kind < 7; ++kind) {
        std::string header;
        if (kind == 0)
            header = filled(
                "{", [&](auto i) { return fmt::format(R"("{:x}":{})", i, empty); }, "}");
        if (kind == 1)
            header = filled(
                "{", [&](auto i) { return fmt::format(R"("{:x}{}":{})", i, std::string(400, 'n'), empty); }, "}");
        if (kind == 2)
            header = filled(R"({"__metadata__":{)", [](auto i) { return fmt::format(R"("{:x}":"")", i); }, "}}");
        if (kind == 3) header = R"({"__metadata__":{"a":")" + std::string(kHeader, 'x') + "\"}}";
        if (kind == 4) header = R"({"a":{"dtype":"U8","shape":[)" + std::string(kHeader, '1') + "]}}";
        if (kind == 5) header = filled(R"({"a":{"x":[)", [&](auto) { return zeros; }, "]}}");
        if (kind == 6) header = R"({"a":)" + std::string(kHeader, '[');
        folder.write("model.safetensors", file_of(header, 0));
        header = {};
        INFO("kind " << kind);
        // 700 MB for everything: the mapped file, libraries, and the stacks of threads. At most 2 CPU seconds, which do
        // not depend on other load; work that grows with the square of the number of entries would take hours
        const std::string command =
            fmt::format("ulimit -v 700000; ulimit -t 30; OMP_NUM_THREADS=1 {} info --model {} 2>{}", testing::kProgram,
                        folder.path(), folder.path("said"));
        CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
        CHECK_THAT(formats::read_file(folder.path("said")), contains("model.safetensors"));
    }
}
