// inkling compare: paired seeds, the paired t-test, continuing, and errors.
#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

struct CompareRun {
    ScratchFolder folder;
    std::string quick = folder.write("quick.toml", "learning_rate = 0.02\n"),
                slow = folder.write("slow.toml", "learning_rate = 1e-6\n"), out = folder.path("out");

    Result compare(const Arguments& more = {}) const {
        const Arguments shape{"--recipe", "nanogpt-cpu", "--n-layer", "1", "--n-head", "1", "--n-embd", "8"};
        const Arguments rest{"--block-size", "8", "--batch-size", "4", "--max-iters", "12", "--threads", "1"};
        return call(Arguments{"compare", quick, slow, "--out", out, "--data", folder.path("text.txt")} + shape + rest +
                    more);
    }
    CompareRun() {
        std::string text;
        for (int i = 0; i < 60; ++i) text += "to be or not to be, ";
        folder.write("text.txt", text);
    }
};

}  // namespace

TEST_CASE("compare: seeds are tried in pairs until the difference is sure", "[cli]") {
    const CompareRun run;
    const Result r = succeeded(run.compare({"--json"}));
    const ordered_json line = ordered_json::parse(r.out);
    CHECK((line["a"] == "quick" && line["b"] == "slow" && line["decided"] == true));
    CHECK((line["seeds"] >= 3 && line["seeds"] <= 10 && line["mean_difference"] > 0.05 && line["p"] < 0.01));
    CHECK((line["low"] < line["mean_difference"] && line["mean_difference"] < line["high"] && line["low"] > 0));
    CHECK_THAT(r.err, contains("seed 1: quick ", ", slow "));
    // the curves of all runs, by their settings
    const std::string page = read_file(run.out + "/report.html");
    CHECK_THAT(r.err, contains("see the curves: " + run.out + "/report.html"));
    CHECK_THAT(page, contains("slow - quick: +", ": quick is better."));
    for (const std::string group : {"quick", "slow"}) {
        for (const std::string seed : {"1", "2", "3"})
            CHECK_THAT(page, contains("\"name\":\"" + group + "-seed-" + seed + "\""));
        CHECK_THAT(page, contains("\"group\":\"" + group + "\""));
    }
    // repeating the command trains nothing
    const std::string before = read_file(run.out + "/compare.jsonl");
    const Result again = succeeded(run.compare());
    CHECK(read_file(run.out + "/compare.jsonl") == before);
    CHECK_THAT(again.out, contains("slow - quick: +", ": quick is better\n"));
    // results with other settings are not mixed with these
    const Result other = ended_with(2, run.compare({"--dropout", "0.1"}));
    CHECK_THAT(other.err, contains("holds runs of other settings than", "another --out"));
}

TEST_CASE("compare: the statistics of known losses", "[cli]") {
    const CompareRun run;
    REQUIRE(run.compare({"--max-seeds", "2"}).code == 0);
    std::map<std::string, std::string> settings;
    std::istringstream lines(read_file(run.out + "/compare.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        const auto parsed = ordered_json::parse(line);
        settings[parsed["name"]] = parsed["settings"];
    }
    REQUIRE(settings.size() == 2);
    const auto known = [&](const std::vector<double>& differences) {
        std::string all;
        for (std::size_t i = 0; i < differences.size(); ++i) {
            for (const char* name : {"quick", "slow"}) {
                const double loss = name == std::string("slow") ? 1 + differences[i] : 1;
                all += ordered_json{{"name", name}, {"seed", i + 1}, {"val_loss", loss}, {"settings", settings[name]}}
                           .dump() +
                       "\n";
            }
        }
        run.folder.write("out/compare.jsonl", all);
        return ordered_json::parse(run.compare({"--json", "--max-seeds", std::to_string(differences.size())}).out);
    };
    const ordered_json open = known({1, 2, 3});  // as scipy.stats.ttest_1samp has it
    CHECK(open["mean_difference"].get<double>() == Approx(2));
    CHECK(open["p"].get<double>() == Approx(0.0741799).epsilon(1e-5));
    CHECK(open["low"].get<double>() == Approx(-0.4841377).epsilon(1e-5));
    CHECK(open["high"].get<double>() == Approx(4.4841377).epsilon(1e-5));
    CHECK((open["decided"] == false && open["seeds"] == 3));
    const ordered_json sure = known({-0.010, -0.012, -0.011, -0.009});
    CHECK(sure["p"].get<double>() == Approx(0.000505485).epsilon(1e-4));
    CHECK(sure["decided"] == true);
    CHECK(known({0.5, 0.5})["decided"] == false);  // two seeds are never enough
    CHECK(known({0, 0, 0})["p"] == 1);
}

TEST_CASE("compare: settings that cannot be compared are refused before training", "[cli]") {
    const CompareRun run;
    const auto refused = [&](const Arguments& given, int code, const std::string& what) {
        const Result r = ended_with(code, call(Arguments{"compare"} + given));
        CHECK_THAT(r.err, contains(what));
    };
    const std::string bad = run.folder.write("bad.toml", "learning_rat = 1\n");
    refused({run.quick, "--out", run.out}, 2, "settings");
    refused({run.quick, bad, "--out", run.out, "--max-iters", "2"}, 3, "learning_rat");
    refused({run.quick, run.quick, "--out", run.out, "--max-iters", "2"}, 3, "two files have this name");
    refused({run.quick, run.slow}, 2, "--out is required");
    refused({run.quick, run.slow, "--out", run.out}, 2, "a budget is required: --max-flops 2e13");
    refused({run.quick, run.folder.path("none.toml"), "--out", run.out, "--max-iters", "2"}, 3, "none.toml");
    CHECK_FALSE(fs::exists(run.out));
}
