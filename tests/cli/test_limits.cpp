// Limits of the system: threads that cannot be started, a small stack; and early signals.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace inkling::testing;

namespace {

// Makes clone fail with EAGAIN, like RLIMIT_NPROC, which does not apply to root.
void no_threads() {
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
void stack_limit() {
    const rlimit limit{soft << 10, hard << 10};
    setrlimit(RLIMIT_STACK, &limit);
}

}  // namespace

TEST_CASE("limits: without threads to be had, one does the work, with the same bits and a warning", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    const auto train = [&](const char* out, void (*limit)()) {
        return program(Arguments{"train", "--data", text, "--out", folder.path(out)} +
                           small({"--threads", "2", "--n-embd", "64", "--batch-size", "64", "--block-size", "32",
                                  "--max-iters", "3", "--eval-every", "0"}),
                       "", "/dev/null", limit);
    };
    const Result limited = train("limited", no_threads);
    if (limited.code == 125) {
        SKIP_TEST("seccomp is not to be had here");
    }
    INFO(limited.err);
    CHECK(limited.code == 0);
    CHECK_THAT(limited.err, contains("warning: cannot start 2 threads: ", ": using 1\n", ", 1 thread, "));
    const Result free = succeeded(train("free", nullptr));
    CHECK(free.err.find("warning") == std::string::npos);
    CHECK(read_file(folder.path("limited/latest/model.safetensors")) ==
          read_file(folder.path("free/latest/model.safetensors")));
    for (const Arguments& command :
         {Arguments{"generate", "--model", small_run(), "-p", "the", "-n", "5", "--threads", "2"},
          Arguments{"eval", "--model", small_run(), "--data", text, "--threads", "2"},
          Arguments{"gradcheck", "--filter", "softmax"},
          Arguments{"export", "--model", small_run(), "--out", folder.path("a.gguf")}}) {
        succeeded(program(command, "", "/dev/null", no_threads));
        INFO(command[0]);
    }
}

TEST_CASE("limits: a small stack is made larger where that is allowed, and told where it is not",
          "[cli][unsanitized]") {
    if (kEmulated) SKIP_TEST("an emulator has a stack of its own");
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    const Arguments train = Arguments{"train", "--data", text, "--out", folder.path("out"), "--overwrite"} +
                            small({"--threads", "2", "--n-embd", "64", "--batch-size", "64", "--block-size", "32"});
    succeeded(program(train, "", "/dev/null", stack_limit<32, 8192>));
    succeeded(program(train, "", "/dev/null", stack_limit<1024, 1024>));
    check_fails(program(train, "", "/dev/null", stack_limit<128, 128>), 1, "the stack limit is 128 kB");
    check_fails(program(train, "", "/dev/null", stack_limit<32, 32>), 1, "the stack limit is 32 kB");
}

TEST_CASE("limits: a signal ends a run that is still reading its text", "[cli]") {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        const ScratchFolder folder;
        const std::string pipe = folder.path("pipe"), out = folder.path("out");
        REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
        Process train(Arguments{"train", "--data", pipe, "--out", out} + kSmall);
        const int writer = open(pipe.c_str(), O_WRONLY);  // once the program reads
        train.signal(number);
        const Result r = train.wait();
        CHECK((r.code == 128 + number && !r.killed));
        close(writer);
        CHECK_FALSE(fs::exists(out));
    }
}
