// The program's surroundings: OpenMP's variables, limits of memory and files, and a text that another
// program truncates while it is mapped.

#include "engine/base/cpu.h"
#include "tests/cli/program.h"

using inkling::CpuKind;

// The weights after 50 steps, and the losses of all steps.
static std::string trained(const Variables& variables, const Arguments& flags) {
    const TrainFolder folder;
    const Arguments train = folder.train(
        small("--n-embd 64 --block-size 32 --max-iters 50 --eval-every 25 --log-every 1 --dropout 0.1"), flags);
    succeeded(program_with(variables, train));
    std::string all = weights_in(folder.out);
    for (const auto& line : lines_in(folder.out + "/metrics.jsonl"))
        all += line["loss"].dump() + line["grad_norm"].dump();
    return all;
}

static std::vector<Arguments> commands_of(const TrainFolder& folder) {
    return {folder.resume("--max-iters 25"), words("generate --model", folder.out, "-p the -n 5 --threads 1")};
}

static rlim_t max_memory = 0;
static void limit_memory() {
    const rlimit limit{max_memory, max_memory};
    setrlimit(RLIMIT_AS, &limit);
}

template <rlim_t files>
static void file_limit() {
    const rlimit limit{files, files};
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Requires success, or an exit code with one line at the end: never a signal, never a partial result.
static void check_ends_well(const Result& r) {
    INFO("exit code " << r.code << ": " << r.err);
    CHECK_FALSE(r.killed);
    if (r.code == 0) return;
    if (r.code == 127) return;  // the system's loader could not begin the program, and said why
    CHECK((r.code == 1 || r.code == 3));
    REQUIRE_FALSE(r.err.empty());
    const std::string line = lines_of(r.err).back();
    CHECK(
        (line.starts_with("inkling: ") || line.starts_with("libgomp: ")));  // of threads, which ends the program itself
    CHECK(r.err.ends_with('\n'));
}

TEST_CASE("surroundings: OpenMP's variables change no bit, and bound the number of threads", "[cli]") {
    const std::string expected = trained({}, words("--threads 1"));
    for (const char* threads : {"2", "3", "7"})
        WITH_INFO("OMP_NUM_THREADS " << threads,
                  CHECK(trained({{"OMP_NUM_THREADS", threads}}, words("--threads", threads)) == expected));
    for (const Variables& variables : {Variables{{"OMP_DYNAMIC", "true"}},
                                       {{"OMP_SCHEDULE", "dynamic,1"}},
                                       {{"OMP_SCHEDULE", "guided"}},
                                       {{"OMP_NESTED", "true"}, {"OMP_MAX_ACTIVE_LEVELS", "3"}},
                                       {{"OMP_THREAD_LIMIT", "1"}},
                                       {{"OMP_PROC_BIND", "spread"}, {"OMP_PLACES", "threads"}},
                                       {{"OMP_WAIT_POLICY", "active"}},
                                       {{"OMP_STACKSIZE", "64k"}}})
        WITH_INFO(variables.begin()->first << " " << variables.begin()->second,
                  CHECK(trained(variables, words("--threads 3")) == expected));
    const TrainFolder folder;
    const Arguments plan = folder.train("--dry-run --json", kSmall, "--threads");
    const auto threads = [&](const Variables& variables, const char* flag = "0") {
        return json_lines(program_with(variables, plan + flag)).at(0)["threads"].get<int>();
    };
    CHECK_ALL(threads({{"OMP_NUM_THREADS", "1"}}) == 1, threads({{"OMP_NUM_THREADS", "1,2"}}) == 1);
    CHECK(threads({{"OMP_NUM_THREADS", "1000"}}) == threads({}));
    CHECK(threads({{"OMP_NUM_THREADS", "1"}}, "2") == 2);  // the flag goes before
    CHECK(threads({{"OMP_THREAD_LIMIT", "1"}}) == 1);
    CHECK(threads({{"OMP_THREAD_LIMIT", "2"}}, "3") == 2);  // OpenMP starts no more
}

TEST_CASE("surroundings: any limit of memory ends with one line, and what was saved stays", "[cli]") {
    if (kSanitized || kEmulated) SKIP_TEST("sanitizers and emulators take memory of their own");
    const TrainFolder folder;
    execute(folder.train(kSmall));
    const std::string saved = weights_in(folder.out);
    // With less memory than that, the system's loader ends the program before main(), or the initialization of
    // OpenSSL (3.5, in Debian 13), which the HTTP library loads, waits for itself forever.
    constexpr rlim_t step = rlim_t{256} << 10;
    max_memory = rlim_t{12} << 20;
    const auto begins = [] {
        const Arguments version = words("5", kProgram, "--version");
        return Process(version, "", "/dev/null", limit_memory, "/usr/bin/timeout").wait().code == 0;
    };
    while (!begins()) REQUIRE((max_memory += step) < rlim_t{400} << 20);
    int out_of_memory = 0, done = 0;
    for (; done < 10; max_memory += step) {
        REQUIRE(max_memory < rlim_t{400} << 20);
        for (const Arguments& command : commands_of(folder)) {
            const Result r = program_with({}, command, limit_memory);
            INFO("limit " << (max_memory >> 10) << " KiB");
            check_ends_well(r);
            out_of_memory += r.err.find("inkling: out of memory: ") != std::string::npos;
            done += r.code == 0;
        }
        if (fs::exists(folder.out + "/step-000020"))
            CHECK(read_file(folder.out + "/step-000020/model.safetensors") == saved);
    }
    execute("verify", folder.out);
    CHECK(out_of_memory > 0);
}

TEST_CASE("surroundings: any limit of open files ends with one line, and what was saved stays", "[cli]") {
    if (kSanitized || kEmulated) SKIP_TEST("sanitizers and emulators need files of their own");
    const TrainFolder folder;
    execute(folder.train(kSmall));
    int ended = 0, done = 0;
    for (const auto limit : {file_limit<3>, file_limit<4>, file_limit<5>, file_limit<6>, file_limit<7>, file_limit<8>,
                             file_limit<9>, file_limit<10>, file_limit<20>}) {
        for (const Arguments& command : commands_of(folder)) {
            const Result r = program_with({}, command, limit);
            check_ends_well(r);
            ++(r.code == 0 ? done : ended);
        }
        execute("verify", folder.out);
    }
    CHECK_ALL(ended >= 2, done >= 2);
}

TEST_CASE("surroundings: a mapped text that another program cuts short ends with one line", "[cli]") {
    const TrainFolder folder;
    const std::string big = folder.write("big.txt", repeated(small_text(), 65 << 20)), fifo = folder.path("fifo");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    // the big text is mapped while the program waits for the FIFO
    Process train(words("train --data", big, fifo, "--out", folder.out, kSmall));
    const int to = open(fifo.c_str(), O_WRONLY);
    REQUIRE(to >= 0);
    REQUIRE(truncate(big.c_str(), 5000) == 0);
    const std::string text = small_text();
    REQUIRE(write(to, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(to);
    check_fails(train.wait(), 3, "a file was truncated while it was read: run the command again");
    CHECK_FALSE(fs::exists(folder.out + "/latest"));
}

static json cpu_of(const Variables& variables) {
    return json::parse(succeeded(program_with(variables, words("info --cpu --json"))).out);
}

TEST_CASE("info --cpu: what the CPU and the library both have, of which INKLING_CPU may take less", "[cli]") {
    const json info = cpu_of({});
    const auto kind = [&](const char* key) { return inkling::named<CpuKind>(key, info[key].get<std::string>()); };
    CHECK(kind("cpu_has") == inkling::cpu_kind());
    CHECK(kind("instructions") == std::min(kind("cpu_has"), kind("library_has")));
    CHECK_ALL(info["fast_bf16"] == inkling::has_fast_bf16(), fs::exists(info["library"].get<std::string>()));
    check_has(program("info --cpu").out, "instructions   " + info["instructions"].get<std::string>() + "\n");
    CHECK(program("info").code == 2);  // --model is required without
    CHECK(program("info --cpu --model x").code == 2);
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
    CHECK_ALL(loss[0] == Approx(loss[1]).epsilon(0.002), loss[0] < 6.7);
}
