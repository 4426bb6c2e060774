// Allocations that fail, each in turn: the program ends with exit code 1 and one line, never by a signal.
#include <list>

#include "tests/cli/faults.h"
#include "tests/support/http_client.h"

namespace {

// Tries all of the first allocations, which come before a command runs, then ever fewer of the repeating ones. With
// INKLING_EVERY_ALLOCATION=1 in the environment it tries every one, which takes hours.
long next(long n) {
    static const bool every = std::getenv("INKLING_EVERY_ALLOCATION") != nullptr;
    return every || n < 200 ? n + 1 : n + n / 40;
}

template <class Clean>
void check_starved(const Arguments& arguments, const Clean& clean) {
    int ended = 0;
    const auto check = [&](const Result& r, bool after) {
        if (r.code == 0 && !after) return;  // one that was not needed
        ++ended;
        CHECK(r.code == 1);
        const std::string line = "inkling: out of memory: ";
        const std::size_t at = r.err.find(line);
        CHECK(at != std::string::npos);
        check_has(r.err, " were asked for, ", " are in use and ");
        check_lacks(r.err, "terminate");
        CHECK(r.err.find('\n', at) == r.err.size() - 1);  // it is the last line
    };
    each_fault(kFailAllocation, "ALLOCATION", arguments, next, clean, check);
    CHECK(ended > 300);
}

// A server of which an allocation fails after each SIGUSR1: number `first` from there, then number first + 1, ...
class StarvedServer {
  public:
    explicit StarvedServer(long first, const Arguments& more = {}) {
        const std::pair<const char*, std::string> variables[] = {
            {"LD_PRELOAD", kFailAllocation},
            {"INKLING_FAIL_ALLOCATION", "-" + std::to_string(first - 1)},
            {"INKLING_FAILED_ALLOCATION", mark_}};
        for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
        process.emplace(words("serve --threads 2 --model", tests_path("reference/llama_tiny"), "--port",
                              std::to_string(port), more));
        for (const auto& variable : variables) unsetenv(variable.first);
        wait_for(port, "/health");
    }
    void starve() {
        process->signal(SIGUSR1);
        const std::string status = "/proc/" + std::to_string(process->pid()) + "/status";
        const std::string none = "\nShdPnd:\t0000000000000000\n";  // signals that the process has yet to take
        wait_until([&] { return read_file(status).find(none) != std::string::npos; });
    }
    bool failed() const { return fs::exists(mark_); }
    void forget() { fs::remove(mark_); }

    const int port = free_port();
    std::optional<Process> process;

  private:
    const ScratchFolder folder_;
    const std::string mark_ = folder_.path("mark");
};

}  // namespace

TEST_CASE("out of memory: any allocation of a training run may fail", "[cli][slow]") {
    if (kSanitized) SKIP_TEST("sanitizers have allocators of their own");
    const TrainFolder folder;
    folder.write("text/text.txt", small_text());
    check_starved(words("train --data", folder.path("text"), "--out", folder.out, "--resume auto",
                        small("--max-iters 3 --eval-every 1 --sample-every 1")),
                  [&] { fs::remove_all(folder.out); });
}

TEST_CASE("out of memory: any allocation may fail while text is written", "[cli][slow]") {
    if (kSanitized) SKIP_TEST("sanitizers have allocators of their own");
    check_starved(words("generate --model", small_run(), "-p the -n 5 --threads 1"), [] {});
}

TEST_CASE("out of memory: a server lives on after an allocation of a request has failed", "[cli][slow]") {
    if (kSanitized) SKIP_TEST("sanitizers have allocators of their own");
    const json asked = GENERATE(
        json{{"model", "plus"}, {"prompt", "aa"}, {"max_tokens", 3}, {"n", 2}, {"temperature", 0}},
        json{{"prompt", {"aa", "a a"}}, {"max_tokens", 3}, {"logprobs", 1}, {"echo", true}, {"temperature", 0}});
    json expected;
    long failed = 0, refused = 0, ended = 0;
    for (bool reached = true; reached;) {
        StarvedServer server(failed + 1, words("--adapter", "plus=" + tests_path("reference/adapters/llama")));
        if (expected.is_null()) expected = post(server.port, "/v1/completions", asked).json()["choices"];
        for (bool runs = true; reached && runs; server.forget()) {
            server.starve();
            const Answer a = try_ask(server.port, "POST", "/v1/completions", asked.dump());
            INFO("allocation " << failed + 1 << ": " << a.status << " " << a.body);
            reached = server.failed();
            failed += reached;
            refused += a.status != 200;
            REQUIRE((a.status == 200 || a.status == 500 || a.status == 503 || a.status == 0));
            if (a.status == 200) CHECK(a.json()["choices"] == expected);
            runs = within(0.2, [&] { return try_ask(server.port, "GET", "/health").status == 200; });
        }
        if (!reached) break;
        ++ended;  // in a destructor of nlohmann's library, which allocates
        check_has(ended_with(1, server.process->wait(20)).err, "inkling: out of memory: ");
    }
    CHECK_ALL(failed > 300, refused > 100);
    CHECK(15 * ended < failed);  // if the rows of a step ended it, it would be one in eight
}

TEST_CASE("out of memory: a server accepts connections after memory for one has run out", "[cli]") {
    if (kSanitized) SKIP_TEST("sanitizers have allocators of their own");
    StarvedServer server(1);
    std::list<Wire> open;  // each takes memory that the ones before it have not left behind
    for (int n = 1; n <= 12; ++n, server.forget()) {
        server.starve();
        open.emplace_back(server.port);
        bool answers = false;
        for (int i = 0; i < 3 && !answers; ++i) answers = try_ask(server.port, "GET", "/health").status == 200;
        INFO("allocation " << n << " of a connection and a request");
        REQUIRE(answers);
        REQUIRE(server.failed());
    }
}
