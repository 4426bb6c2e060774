// The weights after 100 steps, as a hash, on every kind of CPU and with every compiler that was tried (D8). The vectors
// of a CPU and what a compiler contracts to fused products decide about the last bits, so each has a row in
// tests/reference/golden.json. A change that is not to change results must leave these as they are; one that is to
// change them replaces the rows, by what this test then prints.
#include <xsimd/xsimd.hpp>

#include "formats/sha256.h"
#include "tests/reference/read.h"
#include "tests/skip.h"
#include "tests/train/run.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

std::string kind_of_build() {
#if defined(__clang__)
    const std::string compiler = fmt::format("clang {}", __clang_major__);
#else
    const std::string compiler = fmt::format("gcc {}", __GNUC__);
#endif
    std::string cpu = xsimd::default_arch::name();
#if defined(__AVX512BF16__)
    cpu += ", avx512bf16";
#endif
    return fmt::format("{}, {}", compiler, cpu);
}

std::string hash_after_100_steps(Precision precision, const char* arch) {
    train::TrainOptions o = small_options();
    o.arch = arch;
    o.precision = precision;
    o.n_layer = 2, o.n_embd = 32, o.dropout = 0.1, o.max_iters = o.lr_decay_iters = 100;
    Run run(o, letters(2000));
    run.to_end();
    const Array<float> weights = run.weights();
    return formats::base64(
        formats::sha256(std::string(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float))));
}

}  // namespace

TEST_CASE("golden: 100 steps give the weights that they always gave on this kind of CPU", "[train]") {
#ifndef NDEBUG
    SKIP_TEST("the hashes are those of release builds");
#endif
    if (kSanitized) SKIP_TEST("the hashes are those of release builds");
    nlohmann::ordered_json found;
    for (const char* arch : {"gpt2", "nanochat"}) {
        found[fmt::format("{} fp32", arch)] = hash_after_100_steps(Precision::fp32, arch);
        found[fmt::format("{} bf16", arch)] = hash_after_100_steps(Precision::bf16, arch);
    }
    const auto golden = reference("golden.json");
    const std::string kind = kind_of_build();
    INFO("\"" << kind << "\": " << found.dump(2));
    if (!golden.contains(kind))
        SKIP_TEST("there is no row for this kind of CPU and compiler: \"" << kind << "\": " << found.dump());
    CHECK(nlohmann::json(golden[kind]) == nlohmann::json(found));
}
