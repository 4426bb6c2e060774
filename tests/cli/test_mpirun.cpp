// inkling train under mpirun: the same bytes as in a single process, and failures.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/precision.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace inkling::testing;

namespace {

// Allows mpirun on few processors and as any user.
void allow_mpirun() {
    if (std::string(kMpirun).empty()) SKIP_TEST("built without MPI");
    for (const char* const name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe",
          "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"})
        setenv(name, "1", 1);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 1);
    setenv("HYDRA_LAUNCHER", "fork", 1);
}

Arguments started(std::size_t processes, const Arguments& arguments) {
    allow_mpirun();
    return Arguments{"-np", std::to_string(processes), kProgram} + arguments;
}

Result mpirun(std::size_t processes, const Arguments& arguments) {
    return Process(started(processes, arguments), "", "/dev/null", nullptr, kMpirun).wait(60);
}

// Inkling's messages, without mpirun's.
std::vector<std::string> lines_of_inkling(const Result& r) {
    std::vector<std::string> lines;
    std::istringstream text(r.err);
    for (std::string line; std::getline(text, line);)
        if (line.starts_with("inkling: ")) lines.push_back(line);
    return lines;
}

void check_one_line(const Result& r, int code, const std::string& text) {
    INFO(r.err);
    CHECK(r.code == code);
    const std::vector<std::string> lines = lines_of_inkling(r);
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines[0], contains(text));
}

std::string model_in(const std::string& out) { return read_file(fs::path(out) / "latest" / "model.safetensors"); }

Arguments flags(const std::string& text, const std::string& out, const Arguments& more = {}) {
    return Arguments{"train", "--data", text, "--out", out} + small({"--batch-size", "8", "--n-embd", "32"}) + more;
}

// The processes of a run, found by their command lines.
std::vector<pid_t> processes_of(const std::string& out) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream file(entry.path() / "cmdline");
        const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        if (line.starts_with(kProgram) && line.find(out) != std::string::npos) found.push_back(std::stoi(name));
    }
    std::sort(found.begin(), found.end());
    return found;
}

template <class Condition>
bool within(double seconds, const Condition& condition) {
    for (int i = 0; i < static_cast<int>(seconds * 50); ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return condition();
}

}  // namespace

TEST_CASE("mpirun: 2 and 4 processes write the model that one writes", "[cli][mpirun][unsanitized]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    for (const std::string optimizer : {"adamw", "muon"}) {
        const Arguments more = {"--shards", "4", "--optimizer", optimizer, "--dropout", "0.1", "--ema", "0.5"};
        const std::string alone = folder.path(optimizer + "1");
        succeeded(program(flags(text, alone, more)));
        for (const std::size_t n : {2u, 4u}) {
            const std::string out = folder.path(optimizer + std::to_string(n));
            const Result r = succeeded(mpirun(n, flags(text, out, more)));
            CHECK_THAT(r.err, contains(std::to_string(n) + " processes on 1 computer"));
            CHECK(model_in(out) == model_in(alone));
            CHECK(r.out.empty());
        }
    }
}

TEST_CASE("mpirun: CPUs of two kinds write the model that one writes, in float32", "[cli][mpirun][unsanitized]") {
    if (!inkling::has_bf16_products()) SKIP_TEST("this CPU has no products of bfloat16 to go without");
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    allow_mpirun();
    const auto two_kinds = [&](const std::string& out, const Arguments& more) {
        const Arguments one = Arguments{kProgram} + flags(text, out, more);
        return Process(Arguments{"-np", "1"} + one + Arguments{":", "-np", "1", "env", "INKLING_CPU=avx512"} + one, "",
                       "/dev/null", nullptr, kMpirun)
            .wait(60);
    };
    succeeded(program(flags(text, folder.path("alone"), {"--shards", "2", "--precision", "fp32"})));
    succeeded(two_kinds(folder.path("out"), {"--precision", "fp32"}));
    CHECK(model_in(folder.path("out")) == model_in(folder.path("alone")));
    check_one_line(two_kinds(folder.path("refused"), {"--precision", "bf16"}), 2,
                   "multiplies bfloat16 one by one, and process 0 in pairs, which rounds otherwise: train with");
}

TEST_CASE("mpirun: 2 and 4 processes write the adapter that one writes", "[cli][mpirun][unsanitized]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    const auto arguments = [&](const std::string& out) {
        return Arguments{"train", "--data", text, "--out", folder.path(out), "--init-from", small_run()} +
               words(
                   "--recipe nanogpt-cpu --lora-rank 2 --lora-dropout 0.1 --shards 4 --batch-size 4 --max-iters 12 "
                   "--eval-every 6 --threads 1");
    };
    const auto adapter = [&](const std::string& out) {
        return read_file(fs::path(folder.path(out)) / "latest" / "adapter_model.safetensors");
    };
    succeeded(program(arguments("alone")));
    for (const std::size_t n : {2u, 4u}) {
        const std::string out = std::to_string(n);
        succeeded(mpirun(n, arguments(out)));
        CHECK(adapter(out) == adapter("alone"));
    }
}

TEST_CASE("mpirun: a run of 2 is killed, and goes on with 4 to the same bytes", "[cli][mpirun][unsanitized]") {
    const NewRun fresh;
    const Arguments more = {"--shards", "4", "--save-every", "5", "--max-iters", "150", "--eval-every", "75"};
    succeeded(program(flags(fresh.text, fresh.folder.path("alone"), more)));
    {
        Process run(started(2, flags(fresh.text, fresh.out, more)), "", "/dev/null", nullptr, kMpirun);
        REQUIRE(within(20, [&] { return fs::exists(fs::path(fresh.out) / "latest"); }));
        const std::vector<pid_t> all = processes_of(fresh.out);
        REQUIRE(all.size() == 2);
        kill(all.back(), SIGKILL);
        const Result r = run.wait(10);
        CHECK(r.code != 0);
        CHECK(within(10, [&] { return processes_of(fresh.out).empty(); }));
    }
    const Result r = succeeded(mpirun(4, flags(fresh.text, fresh.out, more + Arguments{"--resume", "auto"})));
    CHECK_THAT(r.err, contains("going on from"));
    CHECK(model_in(fresh.out) == model_in(fresh.folder.path("alone")));
}

TEST_CASE("mpirun: a recipe's run of 4 goes on with 2, and with 1", "[cli][mpirun][unsanitized]") {
    const NewRun fresh;
    const Arguments run =
        fresh.train + words("--recipe nanogpt-cpu --n-layer 1 --n-embd 32 --block-size 8 --threads 1 --resume auto");
    for (const std::size_t n : {4u, 2u, 1u}) {
        const Arguments steps = {"--max-iters", std::to_string(5 * (5 - n))};
        INFO(n);
        succeeded(n == 1 ? program(run + steps) : mpirun(n, run + steps));
        CHECK_THAT(read_file(fresh.out + "/config.toml"), contains("\nshards = 4\n"));
    }
}

TEST_CASE("mpirun: of processes that were stopped, the one that is silent is named",
          "[cli][mpirun][slow][unsanitized]") {
    const NewRun fresh;
    const Arguments endless = {"--max-iters", "100000000", "--eval-every", "1000000"};
    Process run(started(2, flags(fresh.text, fresh.out, endless)), "", "/dev/null", nullptr, kMpirun);
    REQUIRE(within(20, [&] { return fs::exists(fs::path(fresh.out) / "metrics.jsonl"); }));
    const std::vector<pid_t> all = processes_of(fresh.out);
    REQUIRE(all.size() == 2);
    for (const pid_t process : all) {
        std::ifstream file("/proc/" + std::to_string(process) + "/environ");
        const std::string variables((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        for (const std::string name : {"OMPI_COMM_WORLD_RANK=0", "PMI_RANK=0"})
            if (variables.find(name + std::string(1, '\0')) != std::string::npos) kill(process, SIGSTOP);
    }
    const Result r = run.wait(30);
    CHECK(r.code != 0);
    INFO(r.err);
    const std::vector<std::string> lines = lines_of_inkling(r);
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines[0], contains("process 0 on ", "has ended or cannot be reached"));
}

TEST_CASE("mpirun: asked to stop, all end after the same step, and it is saved", "[cli][mpirun][unsanitized]") {
    const NewRun fresh;
    const Arguments endless = {"--max-iters", "100000000", "--eval-every", "1000000"};
    Process run(started(2, flags(fresh.text, fresh.out, endless)), "", "/dev/null", nullptr, kMpirun);
    REQUIRE(within(20, [&] { return fs::exists(fs::path(fresh.out) / "metrics.jsonl"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (const pid_t process : processes_of(fresh.out)) {  // as mpirun would; one is enough
        kill(process, SIGTERM);
        break;
    }
    const Result r = ended_with(143, run.wait(20));
    CHECK_THAT(r.err, contains("stopped at step"));
    CHECK(fs::exists(fs::path(fresh.out) / "latest"));
    CHECK(processes_of(fresh.out).empty());
}

TEST_CASE("mpirun: processes that were not started alike say so at once", "[cli][mpirun][unsanitized]") {
    const NewRun run;
    const std::string other = run.folder.write("other.txt", small_text() + "more");
    const auto two = [&](const Arguments& first, const Arguments& second) {
        allow_mpirun();
        // "mpirun -np 1 A : -np 1 B" says the same, but Debian 13's mpirun (Open MPI 5.0.7) crashes on it.
        std::string script = "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 0 ]; then set --";
        for (const std::string& word : first) script += " '" + word + "'";
        script += "; else set --";
        for (const std::string& word : second) script += " '" + word + "'";
        script += "; fi; exec '" + std::string(kProgram) + "' \"$@\"";
        return Process({"-np", "2", "sh", "-c", script}, "", "/dev/null", nullptr, kMpirun).wait(60);
    };
    check_one_line(two(flags(run.text, run.out), flags(run.text, run.out, {"--learning-rate", "0.5"})), 2,
                   "was started with --learning-rate 0.5, and process 0 with 0.001: start all with the same flags");
    check_one_line(two(flags(run.text, run.out), flags(other, run.out)), 3, "read another text");
    check_one_line(two(flags(run.text, run.out), flags(run.folder.path("missing"), run.out)), 3, "missing");
    CHECK_FALSE(fs::exists(run.out));
    std::string lines;
    for (int i = 0; i < 60; ++i) lines += R"({"prompt": "n\u00f6t", "completion": "be)" + std::to_string(i) + "\"}\n";
    for (const std::string& given : {run.text, run.folder.write("l\xE9nes.jsonl", lines)}) {
        succeeded(two(flags(given, run.out, {"--broadcast-data", "--overwrite"}),
                      flags(run.folder.path("missing"), run.out, {"--broadcast-data", "--overwrite"})));
        succeeded(program(flags(given, run.folder.path("alone"), {"--shards", "2", "--overwrite"})));
        CHECK(model_in(run.out) == model_in(run.folder.path("alone")));
    }
}

TEST_CASE("mpirun: an error is printed once", "[cli][mpirun][unsanitized]") {
    const NewRun run;
    check_one_line(mpirun(2, {"train", "--bogus"}), 2, "unknown flag --bogus");
    check_one_line(mpirun(3, flags(run.text, run.out)), 2, "the number of processes must be a power of two, got 3");
    check_one_line(mpirun(4, flags(run.text, run.out, {"--shards", "2"})), 2,
                   "--shards must be a multiple of the number of processes, got 2 and 4");
    check_one_line(mpirun(2, flags(run.text, run.out,
                                   {"--learning-rate", "1e5", "--warmup-iters", "0", "--grad-clip", "0", "--optimizer",
                                    "sgd", "--schedule", "constant"})),
                   4, "training diverged");
    check_fails(program(flags(run.text, run.out, {"--processes", "2"})), 2, "--processes is for --dry-run");
    check_fails(program({"bench", "--batch", "3", "--shards", "2"}), 2, "--batch must be a multiple of --shards");
    const auto timed = json_lines(mpirun(2, {"bench", "--batch", "2", "--seconds", "0.1", "--threads", "1", "--json"}));
    REQUIRE(timed.size() == 1);
    CHECK((timed[0]["processes"] == 2 && timed[0]["ms_step"] > 0));
}

TEST_CASE("mpirun: documents in lines go round, and a recipe plans for all processes", "[cli][mpirun][unsanitized]") {
    const ScratchFolder folder;
    std::string stories;
    for (int i = 0; i < 60; ++i)
        stories += "the quick brown fox jumps over the lazy dog " + std::to_string(i * i) + "\n";
    const std::string text = folder.write("text.txt", stories), out = folder.path("out");
    const Result r = mpirun(
        2, {"train", "--data", text, "--out", out, "--max-time", "1", "--threads", "1", "--json", "--broadcast-data"});
    const auto lines = json_lines(r);
    REQUIRE(lines.size() > 2);
    CHECK(lines.front()["event"] == "plan");
    CHECK(lines.front()["settings"]["shards"] == 2);
    CHECK(lines.back()["event"] == "end");
    std::size_t before = 0;  // the steps of the plan before: one process tells each change
    for (const auto& line : lines) {
        if (line["event"] != "plan") continue;
        const auto steps = line["steps"].get<std::size_t>();
        CHECK(steps != before);
        before = steps;
    }
}

TEST_CASE("mpirun: the memory of each process, before it is started", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text()), out = folder.path("out");
    const auto bytes = [&](const Arguments& more) {
        const auto line = json_lines(program(flags(text, out, Arguments{"--dry-run", "--json"} + more)));
        return line[0]["memory_bytes"].get<double>();
    };
    const double one = bytes({"--shards", "4"}), four = bytes({"--processes", "4"});
    CHECK(four < one);
    const Result r = program(flags(text, out, {"--dry-run", "--processes", "4"}));
    CHECK_THAT(r.out, contains("of each of 4 processes about"));
    check_fails(program(flags(text, out, {"--dry-run", "--processes", "3"})), 2, "must be a power of two, got 3");
}
