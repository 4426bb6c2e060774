// inkling train for scripts: --json, --quiet, --sample-prompt, and the last step, which is always reported.
#include "formats/sha256.h"
#include "tests/cli/terminal.h"

static std::vector<ordered_json> of_event(const std::vector<ordered_json>& lines, const std::string& event) {
    std::vector<ordered_json> found;
    for (const ordered_json& line : lines)
        if (line.at("event") == event) found.push_back(line);
    return found;
}

TEST_CASE("train --json: plan, steps, evaluations, samples and end, a line each on stdout", "[cli]") {
    const TrainFolder folder;
    const Result r = program(folder.train(small("--sample-every 10 --sample-prompt 'the fox'"), "--json"));
    const auto lines = json_lines(r);
    check_has(r.err, "step 20/20");  // the progress is where it was
    REQUIRE(lines.size() > 8);
    CHECK_ALL(lines.front()["event"] == "plan", lines.back()["event"] == "end");

    const ordered_json& plan = lines.front();
    check_holds(plan, "parameters", (29 + 8) * 16 + 12 * 256 + 3 * 16, "vocab_size", 29, "tokens", small_text().size(),
                "steps", 20, "tokens_per_step", 32, "threads", 1, "seed", 1337, "/settings/n_layer", 1,
                "/settings/optimizer", "adamw", "/settings/sample_prompt", ordered_json({"the fox"}));

    // the lines of steps are those of metrics.jsonl, which also has the hash of each checkpoint's weights
    auto steps = of_event(lines, "step"), written = lines_in(folder.path("out/metrics.jsonl"));
    for (ordered_json& step : steps) step.erase("event");
    for (const ordered_json& line : written) {
        const std::string checkpoint = folder.path(fmt::format("out/step-{:06}", line["step"].get<int>()));
        CHECK(line.contains("sha256") == (line["step"] == 10 || line["step"] == 20));
        if (!line.contains("sha256")) continue;
        CHECK(line["sha256"] == hex(sha256(read_file(checkpoint + "/model.safetensors"))));
    }
    CHECK(lines.back()["sha256"] == written.back()["sha256"]);
    for (ordered_json& line : written) line.erase("sha256");
    CHECK(steps == written);

    const auto evaluations = of_event(lines, "evaluation");
    REQUIRE(evaluations.size() == 2);
    check_holds(evaluations, "/0/step", 10, "/1/step", 20, "/0/best", true);
    CHECK(std::abs(evaluations[0]["val_tokens"].get<double>() - static_cast<double>(small_text().size()) / 10) <= 1);
    CHECK(evaluations[0]["bits_per_byte"].get<double>() ==
          Approx(evaluations[0]["val_loss"].get<double>() / std::log(2.0)).epsilon(0.05));  // a byte per token
    CHECK(evaluations[1]["best"] == (evaluations[1]["val_loss"] < evaluations[0]["val_loss"]));

    const auto samples = of_event(lines, "sample");
    REQUIRE(samples.size() == 2);
    for (const ordered_json& sample : samples) CHECK(sample["text"].get<std::string>().size() == 200);
    check_holds(samples, "/0/step", 10, "/1/step", 20, "/0/prompt", "the fox", "/1/prompt", "the fox");

    const ordered_json& end = lines.back();
    check_holds(end, "step", 20, "reason", "max_iters", "seed", 1337, "best_val_loss",
                std::min(evaluations[0]["val_loss"], evaluations[1]["val_loss"]), "best_step",
                (evaluations[1]["best"] ? 20 : 10));
    CHECK_ALL(end["best_bits_per_byte"].get<double>() > end["best_val_loss"].get<double>(), end["model"] == folder.out);
    execute("generate --model", folder.out, "-n 1");
}

TEST_CASE("train --json: a run that is interrupted, resumed or without validation says so", "[cli]") {
    const TrainFolder folder;
    const std::string out = folder.path("lines");
    const Arguments flags =
        folder.train(small("--max-iters 100000000 --log-every 1000000 --val-fraction 0 --eval-every 0"), "--json");
    Process run(flags, out);
    wait_for_file(out);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    run.signal(SIGINT);
    const Result r = ended_with(130, run.wait());
    const auto lines = lines_in(out);
    const ordered_json& end = lines.back();
    check_holds(end, "event", "end", "reason", "interrupted", "best_step", 0, "best_val_loss", nullptr,
                "best_bits_per_byte", nullptr);
    const auto steps = of_event(lines, "step");
    CHECK(steps.back()["step"] == end["step"]);  // the last one, whatever --log-every says
    CHECK(lines_in(folder.path("out/metrics.jsonl")).back()["step"] == end["step"]);
    check_has(r.err, "step " + end["step"].dump() + "/");

    const auto again = json_lines(program(flags + words("--resume auto --max-iters", end["step"].dump())));
    CHECK(of_event(again, "step").empty());  // nothing to do
    CHECK_ALL(again.front()["event"] == "plan", again.back()["event"] == "end", again.back()["reason"] == "max_iters");
}

TEST_CASE("train --json: a reader that goes away, and a terminal, where lines are not mixed with progress", "[cli]") {
    const TrainFolder folder;
    check_has(ended_with(1, program(folder.train(kSmall, "--json"), "/dev/full")).err,
              "inkling: stdout: cannot be written");
    CHECK(fs::exists(folder.path("out/step-000020")));
    CHECK(program(folder.train("--dry-run --json"), "/dev/full").code == 1);
    Terminal t(folder.train(small("--max-iters 3"), "--json --overwrite"));
    CHECK(t.wait() == 0);
    for (const std::string& line : lines_of(t.rest()))
        CHECK_ALL(line.starts_with("{\"event\":"), line.ends_with("}\r"));
}

TEST_CASE("train --quiet and log level: warnings, errors and all else on stderr, from a level on", "[cli]") {
    const TrainFolder folder;
    const Result r = execute(folder.train(small("--sample-every 5"), "--quiet"));
    CHECK(r.out + r.err == "");
    Terminal t(folder.train(kSmall, "--quiet --overwrite"));
    CHECK_ALL(t.wait() == 0, t.rest().empty());
    const Result warned = execute(folder.train(small("--learning-rate 2"), "--resume auto --force --quiet"));
    CHECK(warned.err.starts_with("warning: "));
    check_fails(call(folder.train(kSmall, "--quiet")), 2, "already holds a run");
    execute(folder.train(kSmall, "--overwrite"));
    int steps = 20;
    const auto err = [&](const std::string& level) {  // going on with another learning rate is a warning
        ++steps;
        return execute(folder.resume(), "--force --max-iters", std::to_string(steps), "--learning-rate",
                       std::to_string(steps), "--log-level", level)
            .err;
    };
    check_has(err("info"), "step 21/21", "warning: ");
    const std::string warnings = err("warning");
    CHECK(warnings.starts_with("warning: "));
    check_lacks(warnings, "step ");
    CHECK(err("error").empty());
    const std::string debug = err("debug");
    check_has(debug, " 1 thread on ");
    CHECK(std::regex_search(debug, std::regex("\\n\\d\\d:\\d\\d:\\d\\d\\.\\d{3} step 24/24 ")));
    check_fails(program(words("info --model none --log-level error")), 3, "inkling: ");
    CHECK(program(words("info --model none --log-level off")).err.empty());
    check_fails(program(words("info --model none --log-level loud")), 2, "--log-level");
}

TEST_CASE("train --sample-prompt: each is continued, and those that the model cannot read are refused first", "[cli]") {
    const TrainFolder folder;
    check_has(execute(folder.train(small("--sample-every 10"), "--sample-prompt 'the fox' --sample-prompt over")).err,
              "--- a sample ---\nthe fox", "--- a sample ---\nover");
    check_has(read_file(folder.path("out/config.toml")), "sample_prompt = [ 'the fox', 'over' ]");
    const TrainFolder other;
    check_fails(call(other.train(kSmall, "--quiet --sample-prompt \xFF")), 3, "--sample-prompt");
    CHECK_FALSE(fs::exists(other.out));
}

TEST_CASE("train: the last step has a line, on a terminal, too", "[cli]") {
    const TrainFolder folder;
    const Arguments flags = folder.train(small("--val-fraction 0 --log-every 1000"), "--overwrite");
    check_has(program(flags).err, "step 20/20  loss ");
    Terminal t(flags);
    CHECK(t.wait() == 0);
    const std::string shown = t.rest();
    const std::size_t last = shown.rfind("step 20/20");
    REQUIRE(last != std::string::npos);
    CHECK(shown.substr(last, shown.find('\n', last) - last).find("\x1B[K") == std::string::npos);  // not wiped
}

TEST_CASE("train --json: steps that go wrong, with where and why", "[cli]") {
    const TrainFolder folder;
    const Arguments absurd = words("--learning-rate 1e6 --min-lr 1e6 --warmup-iters 0 --grad-clip 0 --max-iters 500");
    const Result r = ended_with(4, program(folder.train(small(absurd), "--json")));
    const auto wrong = of_event(json_lines(r.out), "anomaly");
    REQUIRE(wrong.size() >= 5);
    const ordered_json& last = wrong.back();
    check_holds(last, "kind", "not_finite", "skipped", true, "lr", 1e6);
    CHECK((last["loss"].is_null() || last["grad_norm"].is_null()));
    check_has(r.err, "\ninkling: training diverged",
              "warning: step 2: every value and gradient is finite, and the norm of the gradients is not: the largest",
              "learning rate 1e+06: the step is skipped");
    check_has(r.err, "steps in a row were not finite, the last one step " + std::to_string(last["step"].get<int>()) +
                         ": " + last["where"].get<std::string>() + ": lower --learning-rate");

    const Result low = program(folder.train(small("--max-iters 90"), "--overwrite --json --skip-spikes 0.2"));
    const auto spikes = of_event(json_lines(low), "anomaly");
    REQUIRE_FALSE(spikes.empty());  // there are some by chance, so far below what is usual
    for (const ordered_json& spike : spikes) {
        check_holds(spike, "kind", "spike", "skipped", true);
        CHECK(spike["step"] > 64);
        CHECK(std::max(spike["loss_z"].get<double>(), spike["grad_norm_z"].get<double>()) > 0.2);
    }
    check_has(low.err, ": a spike: ", " standard deviations above those before: the step is skipped");
    check_has(read_file(folder.path("out/config.toml")), "skip_spikes = 0.2");
    check_fails(call(folder.train(small("--skip-spikes -1"))), 2, "--skip-spikes");
}
