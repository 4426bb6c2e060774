// inkling compare: paired seeds, continuing, errors, and its t-test, whose p holds although it is made after each seed.
#include "cli/compare/paired_test.h"
#include "formats/utf8.h"
#include "tests/cli/program.h"

namespace {

struct CompareRun : TrainFolder {
    std::string quick = write("quick.toml", "learning_rate = 0.02\n"),
                slow = write("slow.toml", "learning_rate = 1e-6\n"), tried = out + "/compare.jsonl";

    CompareRun() { write("text.txt", repeated("to be or not to be, ", 1200)); }
    template <class... Pieces>
    Arguments command(const Pieces&... more) const {
        return words("compare", quick, slow, "--out", out, "--data", text,
                     "--recipe nanogpt-cpu --n-layer 1 --n-head 1 --n-embd 8 --block-size 8 --batch-size 4 --threads 1",
                     more...);
    }
    template <class... Pieces>
    Result compare(const Pieces&... more) const {
        return call(command("--max-iters 12", more...));
    }
};

}  // namespace

TEST_CASE("compare: seeds are tried in pairs until the difference is sure", "[cli]") {
    const CompareRun run;
    const Result r = succeeded(run.compare("--json"));
    const ordered_json line = ordered_json::parse(r.out);
    check_holds(line, "a", "quick", "b", "slow", "decided", true);
    CHECK_ALL(line["mean_difference"] > 0.05, line["p"] < 0.01);
    std::map<std::string, std::vector<double>> losses;
    for (const auto& one : lines_in(run.tried)) losses[one["name"]].push_back(one["val_loss"]);
    CHECK(losses["slow"].size() >= 3);
    const cli::PairedTest test = cli::paired_test(losses["quick"], losses["slow"], 10);
    check_holds(line, "seeds", losses["slow"].size(), "mean_difference", test.mean, "p", test.p, "low", test.low,
                "high", test.high);
    check_has(r.err, "seed 1: quick ", ", slow ");
    // the curves of all runs, by their settings
    const std::string page = read_file(run.out + "/report.html");
    check_has(r.err, "see the curves: " + run.out + "/report.html");
    check_has(page, "slow - quick: +", ": quick is better.");
    for (const std::string group : {"quick", "slow"}) {
        for (const std::string seed : {"1", "2", "3"}) check_has(page, "\"name\":\"" + group + "-seed-" + seed + "\"");
        check_has(page, "\"group\":\"" + group + "\"");
    }
    // repeating the command trains nothing
    const std::string before = read_file(run.tried);
    const Result again = succeeded(run.compare());
    CHECK(read_file(run.tried) == before);
    check_has(again.out, "slow - quick: +", ": quick is better\n");
    // results with other settings are not mixed with these
    check_has(ended_with(2, run.compare("--dropout 0.1")).err, "holds runs of other settings than", "another --out");
    // nor those of another text under the same name, or of another version
    run.write("text.txt", repeated("to be or not to be? ", 1200));
    check_has(ended_with(2, run.compare()).err, "holds runs of another text: choose another --out");
    run.write("text.txt", repeated("to be or not to be, ", 1200));
    run.write("out/compare.jsonl", std::regex_replace(before, std::regex("(inkling[^0-9]*)[0-9.]+"), "$010.0.1"));
    check_has(ended_with(2, run.compare()).err, "holds runs of another version of Inkling: choose another --out");
}

TEST_CASE("compare: a run that was cut off counts only for the same command", "[cli]") {
    const CompareRun run;
    const auto compare = [&](const auto& more) { return run.command("--max-seeds 2 --eval-every 2", more); };
    const std::string first = run.out + "/quick-seed-1";
    const auto cut_off = [&] {
        fs::remove_all(run.out);
        Process p(compare("--max-iters 1000000"));  // long enough to be cut off
        wait_for_file(first + "/latest/config.json");
        p.signal(SIGINT);
        check_has(ended_with(130, p.wait()).err, "stopped: the same command goes on, from " + run.out);
    };
    cut_off();
    for (const Arguments& other :
         {words("--max-iters 12"), words("--max-time 1"), words("--max-iters 1000000 --patience 3"),
          words("--max-iters 1000000 --max-flops 1e6")})
        WITH_INFO(other[1],
                  check_has(ended_with(2, call(compare(other))).err, first + ": holds runs of other settings than"));
    // another command went on with it
    execute("train --resume auto --out", first, "--data", run.text, "--max-iters 10 --patience 1");
    check_has(ended_with(2, call(compare("--max-iters 1000000"))).err,
              first + ": holds an unfinished run that is not part of this comparison: choose another --out");
    fs::remove_all(first);
    const Result r = succeeded(program(compare("--max-iters 12")));
    check_lacks(r.out + r.err, "--force", "--resume");
}

TEST_CASE("compare: results that cannot be read are named, with their line", "[cli]") {
    const CompareRun run;
    REQUIRE(run.compare("--max-seeds 2").code == 0);
    const std::string good = read_file(run.tried), name = run.tried + ": line 1: ";
    const auto refused = [&](const std::string& pattern, const std::string& with, const std::string& why) {
        run.write("out/compare.jsonl", std::regex_replace(good, std::regex(pattern), with));
        check_fails(run.compare("--max-seeds 2"), 3, name + why);
    };
    refused("\"val_loss\":[0-9.]+", "\"val_loss\":null", "val_loss: it is missing: remove this line");
    refused("\"seed\":1", "\"seed\":\"1\"", "seed must be a whole number of at least 1");
    refused("\"name\":\"quick\",", "", "name: it is missing"), refused("^\\{", "[", "not valid JSON");
}

TEST_CASE("compare: names may be any bytes, a text standard input, and no link is written through", "[cli]") {
    const CompareRun run;
    const std::string a = run.write("a\xff.toml", "learning_rate = 0.01\n"),
                      b = run.write("b\n<x>.toml", "learning_rate = 0.02\n"),
                      text = run.write("c\xe9.txt", small_text());
    for (const std::string& data : {text, std::string("-")}) {
        const std::string out = run.path("out\xfe");
        const Result r =
            succeeded(program(words("compare", a, b, "--out", out, "--data", data, kSmall, "--max-seeds 2"), "", text));
        check_has(r.out, "b\n<x> - a\uFFFD: ");
        CHECK(formats::find_invalid_utf8(read_file(out + "/report.html")) == std::string::npos);
        CHECK(lines_in(out + "/compare.jsonl").size() == 4);
        fs::remove_all(out);
    }
    const CompareRun linked;
    fs::create_directory(linked.out);
    const std::string page = linked.write("page", "mine"), results = linked.write("results", "");
    fs::create_symlink(page, linked.out + "/report.html"), fs::create_symlink(results, linked.tried);
    succeeded(linked.compare("--max-seeds 2"));
    CHECK_ALL(read_file(page) == "mine", read_file(results).empty());
}

TEST_CASE("compare: settings that cannot be compared, and a file that names a text", "[cli]") {
    const CompareRun run;
    const std::string bad = run.write("bad.toml", "learning_rat = 1\n");
    const auto refused = [&](const Arguments& given, int code, const std::string& what) {
        check_has(ended_with(code, call("compare", given)).err, what);
    };
    const Arguments rest = words("--out", run.out, "--max-iters 2");
    refused(words(run.quick, "--out", run.out), 2, "settings"), refused(words(run.quick, bad, rest), 3, "learning_rat");
    refused(words(run.quick, run.quick, rest), 3, "two files have this name");
    refused({run.quick, run.slow}, 2, "--out is required");
    refused(words(run.quick, run.slow, "--out", run.out), 2, "a budget is required: --max-flops 2e13");
    refused(words(run.quick, run.path("none.toml"), rest), 3, "none.toml");
    CHECK_FALSE(fs::exists(run.out));
    const CompareRun other;
    const std::string shape = "n_layer = 1\nn_head = 1\nn_embd = 8\nblock_size = 8\nbatch_size = 4\n",
                      of_text = other.write("text.toml", "data = ['" + other.text + "']\n" + shape),
                      stories = other.write("stories.toml", shape);
    REQUIRE(call("compare", of_text, stories, "--out", other.out, "--max-iters 2 --max-seeds 2 --threads 1").code == 0);
    check_has(read_file(other.out + "/text-seed-1/config.toml"), "sampler = 'shuffle'");
    check_has(read_file(other.out + "/stories-seed-1/config.toml"), "sampler = 'paragraphs'");
}

namespace {

// The part of `count` comparisons that are decided at some look, where the differences are normal with this mean and
// deviation 1, and the mean number of seeds that they take.
struct Decided {
    double part = 0, seeds = 0;
};
Decided decided(std::size_t count, double mean, std::size_t max_seeds, double sure = cli::kSure) {
    std::mt19937_64 random(7);
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0; };
    Decided all;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<double> a, b;
        bool found = false;
        while (!found && a.size() < max_seeds) {
            a.push_back(0);
            b.push_back(mean + std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()));
            found = a.size() >= cli::kLeastSeeds && cli::paired_test(a, b, max_seeds).p < sure;
        }
        all.part += found / static_cast<double>(count);
        all.seeds += static_cast<double>(a.size()) / static_cast<double>(count);
    }
    return all;
}

}  // namespace

TEST_CASE("paired test: p and the interval, by scipy, and equal settings are seldom called different", "[cli]") {
    const std::vector<double> zero(4, 0.0), some = {0.01, 0.012, 0.011, 0.009};
    const auto at = [&](std::size_t max_seeds) { return cli::paired_test(zero, some, max_seeds); };
    CHECK(at(4).mean == Approx(0.0105));
    // ttest_1samp: p = 0.000505485, times 2 (N - 3) at a look before N, times 2 at N
    CHECK_ALL(at(4).p == Approx(2 * 0.000505485).epsilon(1e-5), at(10).p == Approx(14 * 0.000505485).epsilon(1e-5));
    CHECK_ALL(at(20).p == Approx(34 * 0.000505485).epsilon(1e-5), at(4).decided, at(10).decided);
    CHECK_FALSE(at(20).decided);
    // t.ppf(1 - 0.025 / 14, 3) = 8.373813
    CHECK(at(10).high - at(10).mean == Approx(8.373813 * 0.0006454972).epsilon(1e-4));
    CHECK(at(10).mean - at(10).low == Approx(at(10).high - at(10).mean));
    // more seeds than are asked for now were planned before
    CHECK(at(2).p == at(4).p);
    CHECK(cli::paired_test({0, 0, 0}, {1, 2, 3}, 3).p == Approx(0.0741799).epsilon(1e-5));  // one look
    CHECK(cli::paired_test({0, 0}, {1, 1.1}, 2).decided == false);
    CHECK(cli::paired_test({1, 1, 1}, {1, 1, 1}, 10).p == 1);
    CHECK(cli::paired_test({1, 2, 3}, {1, 2.2, 2.9}, 10).p == 1);  // never above 1
    constexpr std::size_t kCount = 10'000;                         // 1% has a deviation of 0.1%
    for (const std::size_t max_seeds : {3, 4, 10})
        WITH_INFO(max_seeds, CHECK(decided(kCount, 0, max_seeds).part < 0.013));
    CHECK(decided(kCount, 0, 10, 0.05).part < 0.053);
    CHECK(decided(kCount, 0, 10).part > 0.005);  // and the error allowed is used
    // a difference of 2 deviations is found nearly always, one of 3 early
    CHECK_ALL(decided(1000, 2, 10).part > 0.96, decided(1000, 3, 10).part > 0.995, decided(1000, 3, 10).seeds < 6.7);
}
