// Limits of the system: threads that cannot be started, a small stack; and early signals.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/cli/program.h"

// Makes clone fail with EAGAIN, like RLIMIT_NPROC, which does not apply to root.
static void no_threads() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(filter), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(125);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // which starts a process of its own
}

template <rlim_t soft, rlim_t hard>
static void stack_limit() {
    const rlimit limit{soft << 10, hard << 10};
    setrlimit(RLIMIT_STACK, &limit);
}

TEST_CASE("limits: without threads to be had, one does the work, with the same bits and a warning", "[cli]") {
    const TrainFolder folder;
    const auto train = [&](const char* out, void (*limit)()) {
        return program_with(
            {},
            words("train --data", folder.text, "--out", folder.path(out),
                  small("--threads 2 --n-embd 64 --batch-size 64 --block-size 32 --max-iters 3 --eval-every 0")),
            limit);
    };
    const Result limited = train("limited", no_threads);
    if (limited.code == 125) SKIP_TEST("seccomp is not to be had here");
    check_has(succeeded(limited).err, "warning: cannot start 2 threads: ", ": using 1\n", ", 1 thread, ");
    check_lacks(succeeded(train("free", nullptr)).err, "warning");
    CHECK(weights_in(folder.path("limited")) == weights_in(folder.path("free")));
    for (const Arguments& command :
         {words("generate --model", small_run(), "-p the -n 5 --threads 2"),
          words("eval --model", small_run(), "--data", folder.text, "--threads 2"), words("gradcheck --filter softmax"),
          words("export --model", small_run(), "--out", folder.path("a.gguf"))})
        succeeded(program_with({}, command, no_threads));
}

TEST_CASE("limits: a small stack is made larger where that is allowed, and reported elsewhere", "[cli][unsanitized]") {
    if (kEmulated) SKIP_TEST("an emulator has a stack of its own");
    const TrainFolder folder;
    const Arguments train =
        folder.train("--overwrite", small("--threads 2 --n-embd 64 --batch-size 64 --block-size 32"));
    succeeded(program_with({}, train, stack_limit<32, 8192>));
    succeeded(program_with({}, train, stack_limit<1024, 1024>));
    check_fails(program_with({}, train, stack_limit<128, 128>), 1, "the stack limit is 128 kB");
    check_fails(program_with({}, train, stack_limit<32, 32>), 1, "the stack limit is 32 kB");
}

TEST_CASE("limits: a signal ends a run that is still reading its text", "[cli]") {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        const TrainFolder folder;
        const std::string pipe = folder.path("pipe");
        REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
        Process train(words("train --data", pipe, "--out", folder.out, kSmall));
        const int writer = open(pipe.c_str(), O_WRONLY);  // once the program reads
        train.signal(number);
        CHECK_FALSE(ended_with(128 + number, train.wait()).killed);
        close(writer);
        CHECK_FALSE(fs::exists(folder.out));
    }
}

constexpr std::size_t kMegabytes = 32;

static std::string one_letter() { return std::string(kMegabytes << 20, 'a'); }

static std::string many_words() { return repeated(small_text(), kMegabytes << 20); }

TEST_CASE("memory: encoding takes twice the text and the ids at most", "[cli][slow]") {
    for (const bool split : {false, true})
        for (const bool letters : {false, true}) {
            const ScratchFolder folder;
            const std::string text = folder.write("text.txt", letters ? one_letter() : many_words());
            const std::string tokenizer = folder.path("tokenizer.json");
            const std::string few = folder.write("small.txt", small_text());
            execute("tokenize train --data", few, "--vocab-size 300 --out", tokenizer, "--pre-tokenizer",
                    std::string(split ? "llama3" : "gpt2"));
            const auto encode = [&](const std::string& file) {
                return succeeded(
                    program(words("tokenize encode --tokenizer", tokenizer, "-f", file), folder.path("ids")));
            };
            const std::size_t least = encode(few).peak_mb + 16, most = encode(text).peak_mb;
            const std::string ids = read_file(folder.path("ids"));
            const std::size_t count = 1 + static_cast<std::size_t>(std::count(ids.begin(), ids.end(), ' '));
            INFO("split " << split << ", one letter " << letters << ", ids " << count << ", " << least << " of few");
            CHECK(most < 2 * kMegabytes + (4 * count >> 20) + least);
        }
}

TEST_CASE("memory: a long prompt takes twice its text at most, and counts whole", "[cli][slow]") {
    const ScratchFolder folder;
    std::string text = many_words();
    const Arguments generate =
        words("generate --model", small_run(), "-n 20 --temperature 0 --repeat-penalty 1.5 --json");
    const auto with = [&] { return program(generate + words("-f", folder.write("text.txt", text))); };
    const Result r = with();
    const auto line = json_lines(r).at(0);
    CHECK(line["prompt_tokens"] == text.size());
    // the model sees only the end, but the penalty counts all tokens
    text = text.substr(text.size() - 5000);
    const Result end = with();
    CHECK(json_lines(end).at(0)["text"] == line["text"]);
    CHECK(r.peak_mb < 2 * kMegabytes + end.peak_mb + 16);
}

TEST_CASE("memory: learning byte pairs from one letter makes no token of the whole text", "[cli][slow]") {
    const ScratchFolder folder;
    const Result r = execute("tokenize train --data", folder.write("text.txt", one_letter()), "--vocab-size 1000 --out",
                             folder.path("tokenizer.json"));
    CHECK_ALL(r.peak_mb < 8 * kMegabytes, fs::file_size(folder.path("tokenizer.json")) < 1'000'000);
}
