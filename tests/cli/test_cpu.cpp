// inkling info --cpu, and INKLING_CPU, which selects a lesser CPU.
#include "engine/base/cpu.h"
#include "engine/base/precision.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace inkling::testing;
using inkling::CpuKind;

namespace {

json cpu_of(const Variables& variables) {
    return json::parse(succeeded(program_with(variables, words("info --cpu --json"))).out);
}

}  // namespace

TEST_CASE("info --cpu: what is used is what the CPU and the library both have", "[cli]") {
    const json info = cpu_of({});
    const auto kind = [&](const char* key) { return inkling::named<CpuKind>(key, info[key].get<std::string>()); };
    CHECK(kind("cpu_has") == inkling::cpu_kind());
    CHECK(kind("instructions") == std::min(kind("cpu_has"), kind("library_has")));
    CHECK(info["fast_bf16"] == inkling::has_fast_bf16());
    CHECK(fs::exists(info["library"].get<std::string>()));
    check_has(program("info --cpu").out, "instructions   " + info["instructions"].get<std::string>() + "\n");
    CHECK(program("info").code == 2);  // --model is required without
    CHECK(program("info --cpu --model x").code == 2);
}

TEST_CASE("INKLING_CPU: takes less than there is, and names no other", "[cli]") {
    const json all = cpu_of({});
    if (all["instructions"] == "avx512-bf16") {
        const json less = cpu_of({{"INKLING_CPU", "avx512"}});
        check_holds(less, "instructions", "avx512", "fast_bf16", false, "why", "INKLING_CPU asks for no more");
    }
    CHECK(cpu_of({{"INKLING_CPU", "avx512-bf16"}})["instructions"] == all["instructions"]);
    check_has(ended_with(2, program_with({{"INKLING_CPU", "avx513"}}, words("info --cpu"))).err,
              "INKLING_CPU must be one of avx2, avx512, avx512-bf16, neon, portable, got 'avx513'");
}

// Products of bfloat16 in pairs, and one by one in float32, round the same operands, so the training is similar.
TEST_CASE("INKLING_CPU: a CPU without products of bfloat16 trains to the same loss in bf16", "[cli]") {
    if (inkling::used_kind() != CpuKind::avx512_bf16) SKIP_TEST("this CPU has no products of bfloat16");
    const ScratchFolder folder;
    double loss[2];
    for (int i = 0; i < 2; ++i) {
        const std::string out = folder.path("run" + std::to_string(i));
        const Arguments train = words(
            "train --recipe nanogpt-cpu --max-iters 20 --eval-every 20 --eval-iters 4 "
            "--precision bf16 --out",
            out);
        succeeded(program_with(i ? Variables{{"INKLING_CPU", "avx512"}} : Variables{}, train));
        loss[i] = lines_in(out + "/metrics.jsonl").back().at("val_loss");
    }
    CHECK(loss[0] == Approx(loss[1]).epsilon(0.002));
    CHECK(loss[0] < 6.7);
}
