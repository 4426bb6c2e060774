// inkling train for scripts: --json, --quiet, --sample-prompt, and the last step, which is always reported.
#include <cmath>
#include <set>
#include <sstream>

#include "formats/safetensors/safetensors.h"
#include "tests/cli/terminal.h"
#include "train/run/checkpoint.h"

using namespace inkling::testing;

namespace {

Arguments train(const ScratchFolder& folder, const Arguments& flags) {
    return Arguments{"train", "--data", folder.write("text.txt", small_text()), "--out", folder.path("out")} + flags;
}

std::vector<ordered_json> of_event(const std::vector<ordered_json>& lines, const std::string& event) {
    std::vector<ordered_json> found;
    for (const ordered_json& line : lines)
        if (line.at("event") == event) found.push_back(line);
    return found;
}

}  // namespace

TEST_CASE("train --json: plan, steps, evaluations, samples and end, a line each on stdout", "[cli]") {
    const ScratchFolder folder;
    const Result r =
        program(train(folder, small({"--sample-every", "10", "--sample-prompt", "the fox"}) + Arguments{"--json"}));
    const auto lines = json_lines(r);
    CHECK_THAT(r.err, contains("step 20/20"));  // the progress is where it was
    REQUIRE(lines.size() > 8);
    CHECK(lines.front()["event"] == "plan");
    CHECK(lines.back()["event"] == "end");

    const ordered_json& plan = lines.front();
    CHECK((plan["parameters"] == (29 + 8) * 16 + 12 * 256 + 3 * 16 && plan["vocab_size"] == 29));
    CHECK((plan["tokens"] == small_text().size() && plan["steps"] == 20 && plan["tokens_per_step"] == 32));
    CHECK((plan["threads"] == 1 && plan["seed"] == 1337));
    CHECK((plan["settings"]["n_layer"] == 1 && plan["settings"]["optimizer"] == "adamw"));
    CHECK(plan["settings"]["sample_prompt"] == ordered_json({"the fox"}));

    // the lines of steps are those of metrics.jsonl, which also has the hash of each checkpoint's weights
    auto steps = of_event(lines, "step"), written = json_lines(read_file(folder.path("out/metrics.jsonl")));
    for (ordered_json& step : steps) step.erase("event");
    for (const ordered_json& line : written) {
        const std::string checkpoint = folder.path(fmt::format("out/step-{:06}", line["step"].get<int>()));
        CHECK(line.contains("sha256") == (line["step"] == 10 || line["step"] == 20));
        if (line.contains("sha256")) CHECK(line["sha256"] == inkling::train::weights_sha256(checkpoint));
    }
    CHECK(lines.back()["sha256"] == written.back()["sha256"]);
    for (ordered_json& line : written) line.erase("sha256");
    CHECK(steps == written);

    const auto evaluations = of_event(lines, "evaluation");
    REQUIRE(evaluations.size() == 2);
    CHECK((evaluations[0]["step"] == 10 && evaluations[1]["step"] == 20));
    CHECK(evaluations[0]["best"] == true);
    CHECK(std::abs(evaluations[0]["val_tokens"].get<double>() - static_cast<double>(small_text().size()) / 10) <= 1);
    CHECK(evaluations[0]["bits_per_byte"].get<double>() ==
          Approx(evaluations[0]["val_loss"].get<double>() / std::log(2.0)).epsilon(0.05));  // a byte per token
    CHECK(evaluations[1]["best"] == (evaluations[1]["val_loss"] < evaluations[0]["val_loss"]));

    const auto samples = of_event(lines, "sample");
    REQUIRE(samples.size() == 2);
    for (const ordered_json& sample : samples)
        CHECK((sample["prompt"] == "the fox" && sample["text"].get<std::string>().size() == 200));
    CHECK((samples[0]["step"] == 10 && samples[1]["step"] == 20));

    const ordered_json& end = lines.back();
    CHECK((end["step"] == 20 && end["reason"] == "max_iters" && end["seed"] == 1337));
    CHECK(end["best_val_loss"] == std::min(evaluations[0]["val_loss"], evaluations[1]["val_loss"]));
    CHECK(end["best_step"] == (evaluations[1]["best"] ? 20 : 10));
    CHECK(end["best_bits_per_byte"].get<double>() > end["best_val_loss"].get<double>());
    CHECK(end["model"] == folder.path("out"));
    succeeded(program({"generate", "--model", end["model"], "-n", "1"}));
}

TEST_CASE("train --json: a run that is interrupted, resumed or without validation says so", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("lines");
    const Arguments flags = train(folder, small({"--max-iters", "100000000", "--log-every", "1000000", "--val-fraction",
                                                 "0", "--eval-every", "0"}) +
                                              Arguments{"--json"});
    Process run(flags, out);
    for (int i = 0; i < 30'000 && (!fs::exists(out) || fs::file_size(out) == 0); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    run.signal(SIGINT);
    const Result r = ended_with(130, run.wait());
    const auto lines = json_lines(read_file(out));
    const ordered_json& end = lines.back();
    CHECK((end["event"] == "end" && end["reason"] == "interrupted"));
    CHECK((end["best_step"] == 0 && end["best_val_loss"].is_null() && end["best_bits_per_byte"].is_null()));
    const auto steps = of_event(lines, "step");
    CHECK(steps.back()["step"] == end["step"]);  // the last one, whatever --log-every says
    CHECK(json_lines(read_file(folder.path("out/metrics.jsonl"))).back()["step"] == end["step"]);
    CHECK_THAT(r.err, contains("step " + end["step"].dump() + "/"));

    const auto again = json_lines(program(flags + Arguments{"--resume", "auto", "--max-iters", end["step"].dump()}));
    CHECK(of_event(again, "step").empty());  // nothing to do
    CHECK(
        (again.front()["event"] == "plan" && again.back()["event"] == "end" && again.back()["reason"] == "max_iters"));
}

TEST_CASE("train --json: a reader that goes away does not end the run, and is an error at its end", "[cli]") {
    const ScratchFolder folder;
    const Result r = ended_with(1, program(train(folder, kSmall + Arguments{"--json"}), "/dev/full"));
    CHECK_THAT(r.err, contains("inkling: stdout: cannot be written"));
    CHECK(fs::exists(folder.path("out/step-000020")));
    CHECK(program(train(folder, {"--dry-run", "--json"}), "/dev/full").code == 1);
}

TEST_CASE("train: on a terminal, lines of --json are not mixed with progress, and the last step has one", "[cli]") {
    const ScratchFolder folder;
    Terminal t(train(folder, small({"--max-iters", "3"}) + Arguments{"--json"}));
    CHECK(t.wait() == 0);
    std::istringstream lines(t.rest());
    for (std::string line; std::getline(lines, line);)
        CHECK((line.starts_with("{\"event\":") && line.ends_with("}\r")));
    const Arguments plain_flags =
        train(folder, small({"--val-fraction", "0", "--log-every", "1000"}) + Arguments{"--overwrite"});
    CHECK_THAT(program(plain_flags).err, contains("step 20/20  loss "));
    Terminal plain(plain_flags);
    CHECK(plain.wait() == 0);
    const std::string shown = plain.rest();
    const std::size_t last = shown.rfind("step 20/20");
    REQUIRE(last != std::string::npos);
    CHECK(shown.substr(last, shown.find('\n', last) - last).find("\x1B[K") == std::string::npos);  // not wiped
}

TEST_CASE("train --dry-run --json: the plan as one object", "[cli]") {
    const ScratchFolder folder;
    const auto lines = json_lines(program(train(folder, kSmall + Arguments{"--dry-run", "--json"})));
    REQUIRE(lines.size() == 1);
    const ordered_json& plan = lines[0];
    CHECK((plan["event"] == "plan" && plan["vocab_size"] == 29 && plan["steps"] == 20));
    CHECK((plan["tokens"] == small_text().size() && plan["tokens_are_exact"] == true));
    for (const char* key : {"epochs", "flops", "memory_bytes", "checkpoint_bytes", "seconds"}) CHECK(plan[key] > 0);
    CHECK(plan["settings"]["n_embd"] == 16);
    CHECK_FALSE(fs::exists(folder.path("out")));
}

TEST_CASE("train --quiet: nothing on stderr but warnings and errors", "[cli]") {
    const ScratchFolder folder;
    const Result r = succeeded(program(train(folder, small({"--sample-every", "5"}) + Arguments{"--quiet"})));
    CHECK((r.out.empty() && r.err.empty()));
    Terminal t(train(folder, kSmall + Arguments{"--quiet", "--overwrite"}));
    CHECK(t.wait() == 0);
    CHECK(t.rest().empty());
    const Result warned = succeeded(
        program(train(folder, small({"--learning-rate", "2"}) + Arguments{"--resume", "auto", "--force", "--quiet"})));
    CHECK(warned.err.starts_with("warning: "));
    check_fails(call(train(folder, kSmall + Arguments{"--quiet"})), 2, "already holds a run");
}

TEST_CASE("train --sample-prompt: each is continued, and those that the model cannot read are refused first", "[cli]") {
    const ScratchFolder folder;
    const Result r = succeeded(program(train(
        folder, small({"--sample-every", "10"}) + Arguments{"--sample-prompt", "the fox", "--sample-prompt", "over"})));
    CHECK_THAT(r.err, contains("--- a sample ---\nthe fox", "--- a sample ---\nover"));
    CHECK_THAT(read_file(folder.path("out/config.toml")), contains("sample_prompt = [ 'the fox', 'over' ]"));
    const ScratchFolder other;
    check_fails(call(train(other, kSmall + Arguments{"--quiet", "--sample-prompt", "\xFF"})), 3, "--sample-prompt");
    CHECK_FALSE(fs::exists(other.path("out")));
}

TEST_CASE("train --json: steps that go wrong, with where and why", "[cli]") {
    const ScratchFolder folder;
    const Arguments absurd = {"--learning-rate", "1e6", "--min-lr",    "1e6", "--warmup-iters", "0",
                              "--grad-clip",     "0",   "--max-iters", "500"};
    const Result r = ended_with(4, program(train(folder, small(absurd) + Arguments{"--json"})));
    const auto wrong = of_event(json_lines(r.out), "anomaly");
    REQUIRE(wrong.size() >= 5);
    const ordered_json& last = wrong.back();
    CHECK((last["kind"] == "not_finite" && last["skipped"] == true && last["lr"] == 1e6));
    CHECK((last["loss"].is_null() || last["grad_norm"].is_null()));
    CHECK_THAT(r.err,
               contains("steps in a row were not finite, the last one step " + std::to_string(last["step"].get<int>()) +
                        ": " + last["where"].get<std::string>() + ": lower --learning-rate"));

    const Result low = program(
        train(folder, small({"--max-iters", "90"}) + Arguments{"--overwrite", "--json", "--skip-spikes", "0.2"}));
    const auto spikes = of_event(json_lines(low), "anomaly");
    REQUIRE_FALSE(spikes.empty());  // there are some by chance, so far below what is usual
    for (const ordered_json& spike : spikes) {
        CHECK((spike["kind"] == "spike" && spike["skipped"] == true && spike["step"] > 64));
        CHECK(std::max(spike["loss_z"].get<double>(), spike["grad_norm_z"].get<double>()) > 0.2);
    }
    CHECK_THAT(low.err, contains(": a spike: ", " standard deviations above those before: the step is skipped"));
    CHECK_THAT(read_file(folder.path("out/config.toml")), contains("skip_spikes = 0.2"));
    check_fails(call(train(folder, small({"--skip-spikes", "-1"}))), 2, "--skip-spikes");
}
