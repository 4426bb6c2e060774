// Runs that the program wrote on 2026-11-22, before models were made from an Architecture: they evaluate as before,
// generate the same text, and continue to the same losses. tests/reference/runs holds the two folders at step 20, and
// the old program's results: `eval`, greedy text, and the metrics of steps 21 to 40.
#include "tests/cli/program.h"

using namespace inkling::testing;

TEST_CASE("runs of before: evaluate, write and resume as they did", "[cli]") {
    const std::string arch = GENERATE("gpt2", "nanochat");
    INFO(arch);
    const std::string runs = tests_path("reference/runs/"), text = runs + "text.txt";
    const ScratchFolder folder;
    const std::string out = folder.path("run");
    copy_run(runs + arch, out);

    const auto then = json_in(runs + arch + ".eval.json");
    const auto now = json_of("eval --model", out, "--data", text);
    CHECK(now["tokens"].get<int>() == then["tokens"].get<int>());
    CHECK(now["loss"].get<double>() == Approx(then["loss"].get<double>()).epsilon(1e-6));

    const Result written = execute("generate --model", out, "-p 'The ' -n 20 --temperature 0 --no-prompt");
    CHECK(written.out == read_file(runs + arch + ".greedy.txt"));

    execute("train --out", out, "--resume auto --data", text, "--max-iters 40");
    const auto before = lines_in(runs + arch + ".resumed.jsonl");
    const auto all = lines_in(out + "/metrics.jsonl");
    REQUIRE(before.size() == 20);
    REQUIRE(all.size() == 40);
    for (std::size_t i = 0; i < before.size(); ++i) {  // another CPU rounds otherwise
        INFO("step " << before[i]["step"]);
        CHECK(all[20 + i]["step"].get<int>() == before[i]["step"].get<int>());
        CHECK(all[20 + i]["loss"].get<double>() == Approx(before[i]["loss"].get<double>()).epsilon(1e-5));
        CHECK(all[20 + i]["grad_norm"].get<double>() == Approx(before[i]["grad_norm"].get<double>()).epsilon(1e-3));
    }
    const auto config = json_in(out + "/latest/config.json");
    if (arch == "nanochat") CHECK(config["final_logit_softcapping"] == 15);  // whatever recipes choose today
}
