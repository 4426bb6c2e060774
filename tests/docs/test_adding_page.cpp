// docs/adding.md promises that a mechanism of a decoder is read in one place.
#include <regex>

#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/paths.h"

using inkling::formats::read_file;
using inkling::testing::tests_path;

TEST_CASE("pages: what a decoder computes is read in models/decoder.h alone", "[docs]") {
    const auto reads = [](const std::string& file, const std::string& field) {
        const std::string code = read_file(tests_path("../models/" + file));
        return std::regex_search(code, std::regex(R"(\b(a|config|config_|config\(\))\.)" + field + R"(\b)"));
    };
    for (const char* const field :
         {"norm", "post_norms", "embedding_norm", "scaled_embedding", "token_shift", "positions", "head_norm",
          "packed_qkv", "activation", "parallel_residual", "gated", "attention_scale", "window_of"}) {
        INFO(field);
        CHECK(reads("decoder.h", field));
        for (const char* const other : {"transformer.cpp", "tensor_ops.h", "inference/rows.h", "inference/rows.cpp",
                                        "inference/inference_model.cpp"}) {
            INFO(other);
            CHECK_FALSE(reads(other, field));
        }
    }
}
