// Runs commands, and captures their output and exit code:
//   const Result r = call({"generate", "--model", dir, "-n", "5"});      // r.code, r.out, r.err; in this process
//   const Result r = program({"generate", "--model", dir, "-n", "5"});   // runs the built program
//   Process p({"train", ...});  p.signal(SIGINT);  p.wait();
//   const std::string text = printed_by(path);                   // runs another program
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/support/scratch_folder.h"

namespace inkling::testing {

using formats::names_in;
using formats::read_file;
using nlohmann::json;
using nlohmann::ordered_json;

struct Result {
    int code = -1;            // 128 + the signal's number if a signal ended it
    bool killed = false;      // by a signal, not by exit()
    std::size_t peak_mb = 0;  // peak memory
    std::string out, err;
};

using Arguments = std::vector<std::string>;

class Process {
  public:
    // `out` and `in`: files for stdout and stdin. Calls `limit` in the new process before the program starts.
    explicit Process(Arguments arguments, const std::string& out = "", const std::string& in = "/dev/null",
                     void (*limit)() = nullptr, const std::string& path = kProgram)
        : out_(out.empty() ? folder_.path("out") : out) {
        arguments.insert(arguments.begin(), path);
        std::vector<char*> argv;
        for (std::string& a : arguments) argv.push_back(a.data());
        argv.push_back(nullptr);
        const std::string err = folder_.path("err");
        pid_ = fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {  // only calls that are safe between fork and exec from here
            const int files[3] = {open(in.c_str(), O_RDONLY), open(out_.c_str(), O_WRONLY | O_CREAT, 0666),
                                  open(err.c_str(), O_WRONLY | O_CREAT, 0666)};
            for (int i = 0; i < 3; ++i)
                if (files[i] < 0 || dup2(files[i], i) < 0) _exit(126);
            ::signal(SIGHUP, SIG_DFL);  // nohup ./check ignores it
            if (limit) limit();
            execv(argv[0], argv.data());
            _exit(127);
        }
    }
    ~Process() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    void signal(int number) const { kill(pid_, number); }

    Result wait(int seconds = kEmulated ? 2800 : 280) {
        Result result;
        int status = 0;
        int naps = 500 * seconds;  // counted, not timed, so that it does not give up after a pause of the whole machine
        rusage used{};
        while (wait4(pid_, &status, WNOHANG, &used) == 0) {
            if (naps-- == 0) {
                kill(pid_, SIGKILL);
                FAIL("the program did not end within " << seconds << " s");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        pid_ = 0;
        result.killed = !WIFEXITED(status);
        result.code = result.killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        result.peak_mb = static_cast<std::size_t>(used.ru_maxrss) / 1024;
        if (out_.starts_with(folder_.path())) result.out = formats::read_file(out_);
        result.err = formats::read_file(folder_.path("err"));
        return result;
    }

  private:
    ScratchFolder folder_;
    std::string out_;
    pid_t pid_ = 0;
};

inline Result program(const Arguments& arguments, const std::string& out = "", const std::string& in = "/dev/null",
                      void (*limit)() = nullptr) {
    return Process(arguments, out, in, limit).wait();
}

// Runs in this process: enough for help, wrong usage and bad input.
inline Result call(const Arguments& arguments) {
    const ScratchFolder folder;
    int kept[2];
    for (const int i : {0, 1}) {  // stdout, stderr
        const int file = open(folder.path(std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0666);
        REQUIRE(file >= 0);
        std::fflush(i == 0 ? stdout : stderr);
        kept[i] = dup(i + 1);
        dup2(file, i + 1);
        close(file);
    }
    Result result;
    result.code = cli::run_command(arguments);
    for (const int i : {0, 1}) {
        std::fflush(i == 0 ? stdout : stderr);
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    result.out = formats::read_file(folder.path("0"));
    result.err = formats::read_file(folder.path("1"));
    return result;
}

// Requires this exit code, or 0, and returns the result: succeeded(program({...})).
inline Result ended_with(int code, Result r) {
    INFO(r.out << r.err);
    REQUIRE(r.code == code);
    return r;
}
inline Result succeeded(Result r) { return ended_with(0, std::move(r)); }

inline std::string printed_by(const std::string& path, const Arguments& arguments = {}) {
    return succeeded(Process(arguments, "", "/dev/null", nullptr, path).wait()).out;
}

// Parses the lines of stdout or of a file, one JSON object each.
inline std::vector<ordered_json> json_lines(const std::string& text) {
    std::istringstream lines(text);
    std::vector<ordered_json> result;
    for (std::string line; std::getline(lines, line);) result.push_back(ordered_json::parse(line));
    return result;
}

inline std::vector<ordered_json> json_lines(const Result& r) { return json_lines(succeeded(r).out); }

// Checks the exit code, that stdout is empty, and that stderr is one line, "inkling: ...", which contains `text`.
inline void check_fails(const Result& r, int code, const std::string& text = "") {
    INFO("stderr: " << r.err);
    CHECK(r.code == code);
    CHECK(r.out.empty());
    CHECK(r.err.starts_with("inkling: "));
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    CHECK(r.err.ends_with('\n'));
    CHECK_THAT(r.err, contains(text));
}

// Splits a command line at blanks.
inline Arguments words(const std::string& line) {
    std::istringstream in(line);
    return Arguments(std::istream_iterator<std::string>(in), {});
}

inline Arguments operator+(Arguments a, const Arguments& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// 1,200 characters of text, and flags of a model that trains on it in a moment.
inline std::string small_text() {
    std::string text;
    while (text.size() < 1200) text += "the quick brown fox jumps over the lazy dog.\n";
    return text;
}
inline const Arguments kSmall = words(
    "--recipe nanogpt-cpu --n-layer 1 --n-head 2 --n-embd 16 --block-size 8 --batch-size 4 --max-iters 20 "
    "--warmup-iters 2 --eval-every 10 --log-every 5 --threads 1");

// kSmall with some flags changed or added: small({"--flag", "value"}).
inline Arguments small(const Arguments& changes) {
    Arguments flags = kSmall;
    for (std::size_t i = 0; i < changes.size(); i += 2) {
        const auto old = std::find(flags.begin(), flags.end(), changes[i]);
        if (old == flags.end())
            flags.insert(flags.end(), {changes[i], changes[i + 1]});
        else
            *(old + 1) = changes[i + 1];
    }
    return flags;
}

// A folder with a text, and the place of a run that is trained on it: program(run.train + kSmall).
struct NewRun {
    ScratchFolder folder;
    std::string text = folder.write("text.txt", small_text()), out = folder.path("out");
    Arguments train = {"train", "--data", text, "--out", out};
};

// Trains a run once, for all tests that only read it.
inline const std::string& small_run() {
    static const ScratchFolder folder;
    static const std::string out = [] {
        const std::string path = folder.path("run"), text = folder.write("text.txt", small_text());
        succeeded(program(Arguments{"train", "--data", text, "--out", path} + kSmall));
        return path;
    }();
    return out;
}

// A copy of small_run() that a test may change, and the text it was trained on.
struct CopiedRun {
    ScratchFolder folder;
    std::string out = folder.path("run"), text = folder.write("text.txt", small_text());

    CopiedRun() { fs::copy(small_run(), out, fs::copy_options::recursive | fs::copy_options::copy_symlinks); }

    std::string latest() const { return fs::read_symlink(out + "/latest").string(); }
};

}  // namespace inkling::testing
