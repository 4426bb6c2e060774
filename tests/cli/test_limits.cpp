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

TEST_CASE("limits: a small stack is made larger where that is allowed, and told where it is not",
          "[cli][unsanitized]") {
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
        const Result r = train.wait();
        CHECK((r.code == 128 + number && !r.killed));
        close(writer);
        CHECK_FALSE(fs::exists(folder.out));
    }
}
