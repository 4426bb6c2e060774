// Runs commands, and captures their output and exit code:
//   const Result r = call("generate --model", dir, "-n 5");       // r.code, r.out, r.err; in this process
//   const Result r = program("generate --model", dir, "-n 5");    // runs the built program
//   const Result r = execute("generate --model", dir, "-n 5");    // the same; requires that it succeeds
//   const json j = json_of("info --model", dir);                  // the same with --json
//   Process p(words("train --data", text));  p.signal(SIGINT);  p.wait();
//   const std::string text = printed_by(path);                   // runs another program
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cli/program.h"
#include "formats/files/directory.h"

namespace inkling::testing {

struct Result {
    int code = -1;            // 128 + the signal's number if a signal ended it
    bool killed = false;      // by a signal, not by exit()
    std::size_t peak_mb = 0;  // peak memory
    std::string out, err;
};

using Arguments = std::vector<std::string>;

inline void append(Arguments& to, const std::string& word) { to.push_back(word); }
inline void append(Arguments& to, const Arguments& more) { to.insert(to.end(), more.begin(), more.end()); }
// Splits a text at blanks outside of '...'.
inline Arguments split(const std::string& text) {
    Arguments words;
    bool quoted = false, begun = false;  // whether a word has begun
    for (const char c : text + ' ') {
        if (c == ' ' && !quoted) {
            begun = false;
            continue;
        }
        if (!begun) words.emplace_back();
        begun = true;
        if (c == '\'')
            quoted = !quoted;
        else
            words.back() += c;
    }
    return words;
}
template <std::size_t N>
void append(Arguments& to, const char (&literal)[N]) {
    append(to, split(literal));
}

// The words on both sides of " > ".
inline std::pair<Arguments, Arguments> sides(const std::string& row) {
    const std::size_t at = row.find(" > ");
    return {split(row.substr(0, at)), split(row.substr(at + 3))};
}

// A command line. Splits string literals at blanks outside of '...'; every other string is one word, whatever it holds.
//   words("generate --model", dir, "-p 'the fox' -n 5", more)
template <class... Pieces>
Arguments words(const Pieces&... pieces) {
    Arguments all;
    (append(all, pieces), ...);
    return all;
}

template <class Piece>
Arguments operator+(Arguments a, const Piece& piece) {
    append(a, piece);
    return a;
}

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

    pid_t pid() const { return pid_; }
    void signal(int number) const { kill(pid_, number); }

    Result wait(int seconds = kEmulated ? 2800 : 280) {
        Result result;
        int status = 0;
        rusage used{};
        INFO("the program did not end within " << seconds << " s");
        REQUIRE(within(seconds, [&] { return wait4(pid_, &status, WNOHANG, &used) != 0; }));
        pid_ = 0;
        result.killed = !WIFEXITED(status), result.code = result.killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
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
template <std::size_t N, class... Pieces>
Result program(const char (&first)[N], const Pieces&... rest) {
    return program(words(first, rest...));
}

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs the program with these environment variables.
inline Result program_with(const Variables& variables, const Arguments& arguments, void (*limit)() = nullptr) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    const Result r = program(arguments, "", "/dev/null", limit);
    for (const auto& [name, value] : variables) unsetenv(name.c_str());
    return r;
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
    result.out = formats::read_file(folder.path("0")), result.err = formats::read_file(folder.path("1"));
    return result;
}
template <std::size_t N, class... Pieces>
Result call(const char (&first)[N], const Pieces&... rest) {
    return call(words(first, rest...));
}

// Requires this exit code, or 0, and returns the result: succeeded(program({...})).
inline Result ended_with(int code, Result r) {
    INFO(r.out << r.err);
    REQUIRE(r.code == code);
    return r;
}
inline Result succeeded(Result r) { return ended_with(0, std::move(r)); }

template <class... Pieces>
Result execute(const Pieces&... pieces) {
    return succeeded(program(words(pieces...)));
}

// Waits until a file has more than this many bytes.
inline void wait_for_file(const std::string& path, std::uintmax_t bytes = 0) {
    INFO(path);
    wait_until([&] {
        std::error_code none;
        return fs::file_size(path, none) > bytes && !none;
    });
}

inline std::string printed_by(const std::string& path, const Arguments& arguments = {}) {
    return succeeded(Process(arguments, "", "/dev/null", nullptr, path).wait()).out;
}

inline std::vector<ordered_json> json_lines(const Result& r) { return json_lines(succeeded(r).out); }

// The object that a command prints with --json.
template <class... Pieces>
ordered_json json_of(const Pieces&... pieces) {
    const auto lines = json_lines(execute(pieces..., "--json"));
    REQUIRE(lines.size() == 1);
    return lines[0];
}

inline std::string weights_in(const std::string& run) { return read_file(run + "/latest/model.safetensors"); }

// Checks the exit code, that stdout is empty, and that stderr is one line, "inkling: ...", which contains `text`.
inline void check_fails(const Result& r, int code, const std::string& text = "") {
    INFO("stderr: " << r.err);
    CHECK_ALL(r.code == code, r.out.empty(), r.err.starts_with("inkling: "));
    CHECK_ALL(std::count(r.err.begin(), r.err.end(), '\n') == 1, r.err.ends_with('\n'));
    CHECK_THAT(r.err, contains(text));
}

inline std::string repeated(const std::string& line, std::size_t at_least) {
    std::string text;
    while (text.size() < at_least) text += line;
    return text;
}

// What a help text says about a flag.
inline std::string about_flag(const std::string& help, const std::string& flag) {
    const std::size_t begin = help.find("\n  " + flag + ' ');
    REQUIRE(begin != std::string::npos);
    return help.substr(begin, help.find("\n  -", begin + 1) - begin);
}

// A line of JSON: a conversation of a question and its answer.
inline std::string chat_line(const std::string& question, const std::string& answer) {
    return R"({"messages":[{"role":"user","content":")" + question + R"("},{"role":"assistant","content":")" + answer +
           "\"}]}\n";
}

// 1,200 characters of text, and flags of a model that trains on it in a moment.
inline std::string small_text() { return repeated("the quick brown fox jumps over the lazy dog.\n", 1200); }
inline const Arguments kSmall = words(
    "--recipe nanogpt-cpu --n-layer 1 --n-head 2 --n-embd 16 --block-size 8 --batch-size 4 --max-iters 20 "
    "--warmup-iters 2 --eval-every 10 --log-every 5 --threads 1");

// kSmall with some flags changed or added: small("--max-iters 5").
template <class... Pieces>
Arguments small(const Pieces&... pieces) {
    const Arguments changes = words(pieces...);
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

// A folder with a text, and the commands that train on it and go on with that.
struct TrainFolder : ScratchFolder {
    std::string text = write("text.txt", small_text()), out = path("out");

    template <class... Pieces>
    Arguments train(const Pieces&... more) const {
        return words("train --data", text, "--out", out, more...);
    }
    template <class... Pieces>
    Arguments resume(const Pieces&... more) const {
        return words("train --out", out, "--resume auto", more...);
    }
};

// Trains a run once, for all tests that only read it.
inline const std::string& small_run() {
    static const TrainFolder folder;
    static const std::string run = folder.path("run");
    static const Result trained = execute("train --data", folder.text, "--out", run, kSmall);
    return run;
}

inline void copy_run(const std::string& from, const std::string& to) {
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

// A copy of small_run() that a test may change, and the text it was trained on.
struct CopiedRun : TrainFolder {
    CopiedRun() {
        out = path("run");
        copy_run(small_run(), out);
    }
    template <class... Pieces>
    Arguments resume(const Pieces&... more) const {
        return TrainFolder::resume("--data", text, more...);
    }
    std::string latest() const { return fs::read_symlink(out + "/latest").string(); }
};

}  // namespace inkling::testing
