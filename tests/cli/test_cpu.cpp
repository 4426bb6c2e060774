// inkling info --cpu, and INKLING_CPU, which selects a lesser CPU.
#include "engine/base/cpu.h"
#include "engine/base/precision.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace inkling::testing;
using inkling::CpuKind;

namespace {

json cpu_of(const char* asked) {
    if (asked) setenv("INKLING_CPU", asked, 1);
    const Result r = program({"info", "--cpu", "--json"});
    unsetenv("INKLING_CPU");
    INFO(r.err);
    REQUIRE(r.code == 0);
    return json::parse(r.out);
}

}  // namespace

TEST_CASE("info --cpu: what is used is what the CPU and the library both have", "[cli]") {
    const json info = cpu_of(nullptr);
    const auto kind = [&](const char* key) { return inkling::named<CpuKind>(key, info[key].get<std::string>()); };
    CHECK(kind("cpu_has") == inkling::cpu_kind());
    CHECK(kind("instructions") == std::min(kind("cpu_has"), kind("library_has")));
    CHECK(info["fast_bf16"] == inkling::has_fast_bf16());
    CHECK(fs::exists(info["library"].get<std::string>()));
    const Result r = program({"info", "--cpu"});
    CHECK_THAT(r.out, contains("instructions   " + info["instructions"].get<std::string>() + "\n"));
    CHECK(program({"info"}).code == 2);  // --model is required without
    CHECK(program({"info", "--cpu", "--model", "x"}).code == 2);
}

TEST_CASE("INKLING_CPU: takes less than there is, and names no other", "[cli]") {
    const json all = cpu_of(nullptr);
    if (all["instructions"] == "avx512-bf16") {
        const json less = cpu_of("avx512");
        CHECK(less["instructions"] == "avx512");
        CHECK(less["fast_bf16"] == false);
        CHECK(less["why"] == "INKLING_CPU asks for no more");
    }
    CHECK(cpu_of("avx512-bf16")["instructions"] == all["instructions"]);
    setenv("INKLING_CPU", "avx513", 1);
    const Result r = program({"info", "--cpu"});
    unsetenv("INKLING_CPU");
    CHECK(r.code == 2);
    CHECK_THAT(r.err, contains("INKLING_CPU must be one of avx2, avx512, avx512-bf16, neon, portable, got 'avx513'"));
}

// Products of bfloat16 in pairs, and one by one in float32, round the same operands, so the training is similar.
TEST_CASE("INKLING_CPU: a CPU without products of bfloat16 trains to the same loss in bf16", "[cli]") {
    if (inkling::used_kind() != CpuKind::avx512_bf16) SKIP_TEST("this CPU has no products of bfloat16");
    const ScratchFolder folder;
    double loss[2];
    for (int i = 0; i < 2; ++i) {
        if (i == 1) setenv("INKLING_CPU", "avx512", 1);
        const std::string out = folder.path("run" + std::to_string(i));
        const Result r = program({"train", "--recipe", "nanogpt-cpu", "--max-iters", "20", "--eval-every", "20",
                                  "--eval-iters", "4", "--precision", "bf16", "--out", out, "--json"});
        unsetenv("INKLING_CPU");
        INFO(r.err);
        REQUIRE(r.code == 0);
        std::istringstream lines(read_file(out + "/metrics.jsonl"));
        for (std::string line; std::getline(lines, line);)
            if (const auto step = json::parse(line); step.contains("val_loss")) loss[i] = step["val_loss"];
    }
    CHECK(loss[0] == Approx(loss[1]).epsilon(0.002));
    CHECK(loss[0] < 6.7);
}
