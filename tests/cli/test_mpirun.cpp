// inkling train under mpirun: the same bytes as in a single process, and failures.
#include "tests/cli/program.h"

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

Process start(std::size_t processes, const Arguments& arguments) {
    allow_mpirun();
    return Process(words("-np", std::to_string(processes), arguments), "", "/dev/null", nullptr, kMpirun);
}

Result mpirun(std::size_t processes, const Arguments& arguments) {
    return start(processes, words(kProgram, arguments)).wait(60);
}

// Two processes with a command each. "mpirun -np 1 A : -np 1 B" says the same, but Debian 13's mpirun (Open MPI 5.0.7)
// crashes on it.
Result two(const Arguments& first, const Arguments& second) {
    std::string script = "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 0 ]; then set --";
    for (const std::string& word : first) script += " '" + word + "'";
    script += "; else set --";
    for (const std::string& word : second) script += " '" + word + "'";
    script += "; fi; exec \"$@\"";
    return start(2, words("sh -c", script)).wait(60);
}

// Inkling's messages, without mpirun's.
std::vector<std::string> lines_of_inkling(const Result& r) {
    std::vector<std::string> lines = lines_of(r.err);
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("inkling: "); });
    return lines;
}

void check_one_line(const Result& r, int code, const std::string& text) {
    INFO(r.err);
    CHECK(r.code == code);
    const std::vector<std::string> lines = lines_of_inkling(r);
    REQUIRE(lines.size() == 1);
    check_has(lines[0], text);
}

struct MpiFolder : TrainFolder {
    std::string alone = path("alone");  // for what one process writes

    template <class... Pieces>
    Arguments flags(const Pieces&... more) const {
        return train(small("--batch-size 8 --n-embd 32"), more...);
    }
};

const Arguments kEndless = words("--max-iters 100000000 --eval-every 1000000");

std::string system_file(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The processes of a run, found by their command lines.
std::vector<pid_t> processes_of(const std::string& out) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const std::string line = system_file(entry.path() / "cmdline");
        if (line.starts_with(kProgram) && line.find(out) != std::string::npos) found.push_back(std::stoi(name));
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

TEST_CASE("mpirun: 2 and 4 processes write the model or the adapter that one writes", "[cli][mpirun][unsanitized]") {
    const MpiFolder folder;
    for (const Arguments& kind : {words("--n-embd 32 --dropout 0.1 --ema 0.5 --optimizer adamw"),
                                  words("--n-embd 32 --dropout 0.1 --ema 0.5 --optimizer muon"),
                                  words("--lora-rank 2 --lora-dropout 0.1 --init-from", small_run())}) {
        const Arguments run = folder.train(small("--batch-size 8"), "--overwrite --shards 4", kind);
        const std::string file = kind[0] == "--lora-rank" ? "adapter_model" : "model",
                          weights = "/latest/" + file + ".safetensors";
        execute(run, "--out", folder.alone);
        for (const std::size_t n : {2u, 4u}) {
            const Result r = succeeded(mpirun(n, run));
            check_has(r.err, std::to_string(n) + " processes on 1 computer");
            CHECK_ALL(read_file(folder.out + weights) == read_file(folder.alone + weights), r.out.empty());
        }
        CHECK(read_file(folder.out + "/chain.jsonl") == read_file(folder.alone + "/chain.jsonl"));
        check_has(execute("verify --replay all", folder.out).out, " replayed stretches hold");
        const std::string said = succeeded(mpirun(2, words("verify --replay all", folder.out))).out;
        CHECK(std::ranges::count(lines_of(said), "latest: points to step-000020") == 1);
    }
}

TEST_CASE("mpirun: CPUs of two kinds write the model that one writes, in float32", "[cli][mpirun][unsanitized]") {
    const MpiFolder folder;
    const auto two_kinds = [&](const std::string& precision) {
        const Arguments one = words(kProgram, folder.flags("--overwrite --precision", precision));
        return two(one, words("env INKLING_CPU=avx512", one));
    };
    execute(folder.flags("--shards 2 --precision fp32 --out", folder.alone));
    succeeded(two_kinds("fp32"));
    CHECK(weights_in(folder.out) == weights_in(folder.alone));
    if (!inkling::has_bf16_products()) SKIP_TEST("this CPU has no products of bfloat16 to go without");
    check_one_line(two_kinds("bf16"), 2,
                   "multiplies bfloat16 one by one, and process 0 in pairs, which rounds otherwise: train with");
}

TEST_CASE("mpirun: a run of 2 is killed and goes on with 4, one of 4 with fewer", "[cli][mpirun][unsanitized]") {
    const MpiFolder folder;
    const Arguments more = words("--shards 4 --save-every 5 --max-iters 150 --eval-every 75");
    execute(folder.flags(more, "--out", folder.alone));
    {
        Process run = start(2, words(kProgram, folder.flags(more)));
        REQUIRE(within(20, [&] { return fs::exists(folder.out + "/latest"); }));
        const std::vector<pid_t> all = processes_of(folder.out);
        REQUIRE(all.size() == 2);
        kill(all.back(), SIGKILL);
        CHECK_ALL(run.wait(10).code != 0, within(10, [&] { return processes_of(folder.out).empty(); }));
    }
    check_has(succeeded(mpirun(4, folder.flags(more, "--resume auto"))).err, "going on from");
    CHECK(weights_in(folder.out) == weights_in(folder.alone));
    const MpiFolder other;
    const Arguments run =
        other.train("--recipe nanogpt-cpu --n-layer 1 --n-embd 32 --block-size 8 --threads 1 --resume auto");
    for (const std::size_t n : {4u, 2u, 1u}) {
        const Arguments steps = words("--max-iters", std::to_string(5 * (5 - n)));
        INFO(n);
        succeeded(n == 1 ? program(run + steps) : mpirun(n, run + steps));
        check_has(read_file(other.out + "/config.toml"), "\nshards = 4\n");
    }
}

TEST_CASE("mpirun: the silent one of the stopped processes is named", "[cli][mpirun][slow][unsanitized]") {
    const MpiFolder folder;
    Process run = start(2, words(kProgram, folder.flags(kEndless)));
    wait_for_file(folder.out + "/metrics.jsonl");
    const std::vector<pid_t> all = processes_of(folder.out);
    REQUIRE(all.size() == 2);
    for (const pid_t process : all) {
        const std::string variables = system_file("/proc/" + std::to_string(process) + "/environ");
        for (const std::string name : {"OMPI_COMM_WORLD_RANK=0", "PMI_RANK=0"})
            if (variables.find(name + std::string(1, '\0')) != std::string::npos) kill(process, SIGSTOP);
    }
    const Result r = run.wait(30);
    CHECK(r.code != 0);
    INFO(r.err);
    const std::vector<std::string> lines = lines_of_inkling(r);
    REQUIRE(lines.size() == 1);
    check_has(lines[0], "process 0 on ", "has ended or cannot be reached");
}

TEST_CASE("mpirun: asked to stop, all end after the same step, and it is saved", "[cli][mpirun][unsanitized]") {
    const MpiFolder folder;
    Process run = start(2, words(kProgram, folder.flags(kEndless)));
    wait_for_file(folder.out + "/metrics.jsonl");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (const pid_t process : processes_of(folder.out)) {  // as mpirun would; one is enough
        kill(process, SIGTERM);
        break;
    }
    check_has(ended_with(143, run.wait(20)).err, "stopped at step");
    CHECK_ALL(fs::exists(folder.out + "/latest"), processes_of(folder.out).empty());
}

TEST_CASE("mpirun: processes that were not started alike say so at once", "[cli][mpirun][unsanitized]") {
    const MpiFolder folder;
    const std::string other = folder.write("other.txt", small_text() + "more");
    const auto reading = [&](const std::string& data, const auto&... more) {
        return words(kProgram, "train --data", data, "--out", folder.out, small("--batch-size 8 --n-embd 32"), more...);
    };
    const Arguments run = words(kProgram, folder.flags()), missing = reading(folder.path("missing"));
    check_one_line(two(run, run + "--learning-rate 0.5"), 2,
                   "was started with --learning-rate 0.5, and process 0 with 0.001: start all with the same flags");
    check_one_line(two(run, reading(other)), 3, "read another text"), check_one_line(two(run, missing), 3, "missing");
    CHECK_FALSE(fs::exists(folder.out));
    std::string lines;
    for (int i = 0; i < 60; ++i) lines += R"({"prompt": "n\u00f6t", "completion": "be)" + std::to_string(i) + "\"}\n";
    for (const std::string& given : {folder.text, folder.write("l\xE9nes.jsonl", lines)}) {
        succeeded(two(reading(given, "--broadcast-data --overwrite"), missing + "--broadcast-data --overwrite"));
        execute(words("train --data", given, "--out", folder.alone, small("--batch-size 8 --n-embd 32"),
                      "--shards 2 --overwrite"));
        CHECK(weights_in(folder.out) == weights_in(folder.alone));
    }
}

TEST_CASE("mpirun: an error is printed once", "[cli][mpirun][unsanitized]") {
    const MpiFolder folder;
    check_one_line(mpirun(2, words("train --bogus")), 2, "unknown flag --bogus");
    for (int i = 0; i < 12; ++i)  // an mpirun that ends too early loses one in ten
        check_one_line(mpirun(3, folder.flags()), 2, "the number of processes must be a power of two, got 3");
    check_one_line(mpirun(4, folder.flags("--shards 2")), 2,
                   "--shards must be a multiple of the number of processes, got 2 and 4");
    const Arguments wild =
        folder.flags("--learning-rate 1e5 --warmup-iters 0 --grad-clip 0 --optimizer sgd --schedule constant");
    check_one_line(mpirun(2, wild), 4, "training diverged");
    check_fails(program(folder.flags("--processes 2")), 2, "--processes is for --dry-run");
    check_fails(program("bench --batch 3 --shards 2"), 2, "--batch must be a multiple of --shards");
    const auto timed = json_lines(mpirun(2, words("bench --batch 2 --seconds 0.1 --threads 1 --json")));
    REQUIRE(timed.size() == 1);
    CHECK_ALL(timed[0]["processes"] == 2, timed[0]["ms_step"] > 0);
}

TEST_CASE("mpirun: documents in lines go round, and a recipe plans for all processes", "[cli][mpirun][unsanitized]") {
    const TrainFolder folder;
    std::string stories;
    for (int i = 0; i < 60; ++i)
        stories += "the quick brown fox jumps over the lazy dog " + std::to_string(i * i) + "\n";
    folder.write("text.txt", stories);
    const auto lines = json_lines(mpirun(2, folder.train("--max-time 1 --threads 1 --json --broadcast-data")));
    REQUIRE(lines.size() > 2);
    check_holds(lines.front(), "event", "plan", "/settings/shards", 2);
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
    const MpiFolder folder;
    const Arguments plan = folder.flags("--dry-run");
    CHECK(json_of(plan, "--processes 4")["memory_bytes"] < json_of(plan, "--shards 4")["memory_bytes"]);
    check_has(program(plan + "--processes 4").out, "of each of 4 processes about");
    const Result r = mpirun(2, words("train --dry-run --max-time 60 --data", folder.text));  // one plans for both
    CHECK(r.code == 0);
    check_has(r.out, "of each of 2 processes about");
    check_fails(program(plan + "--processes 3"), 2, "must be a power of two, got 3");
}
