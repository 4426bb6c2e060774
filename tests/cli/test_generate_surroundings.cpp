// inkling generate in its surroundings: on a terminal, with closed files, beside programs that replace its model.
#include <atomic>
#include <cstdlib>

#include "tests/cli/terminal.h"
#include "tests/models/folders.h"

using namespace inkling::testing;

namespace {

// Runs a shell command line with "$inkling" and "$run"; stderr goes to a file unless the line redirects it.
Result shell(const std::string& line) {
    const ScratchFolder folder;
    const std::string command = "inkling='" + std::string(kProgram) + "' run='" + small_run() + "'; exec 2>'" +
                                folder.path("err") + "'; " + line;
    Result r;
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    for (char c = 0; std::fread(&c, 1, 1, pipe) == 1;) r.out += c;
    const int status = pclose(pipe);
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r.err = read_file(folder.path("err"));
    return r;
}

}  // namespace

TEST_CASE("generate: an output that cannot be written is one line and an exit code", "[cli]") {
    for (const char* out : {">&-", ">/dev/full"}) {
        for (const std::string flags : {"--no-prompt", "--json", "-n 0", "--help"}) {
            INFO(flags << " " << out);
            const Result r = shell("\"$inkling\" generate --model \"$run\" -p the " + flags + " " + out);
            check_has(ended_with(1, r).err, "inkling: stdout: cannot be written: ");
        }
    }
    CHECK(shell("\"$inkling\" generate --model \"$run\" -p the -n 5 2>&- <&-").out.size() == 9);
}

TEST_CASE("generate: what a terminal would obey is shown there, and exact in a file", "[cli]") {
    const TrainFolder folder;
    const std::string evil = "\x1b]0;title\x07\x1b[2J", shown = "\\x1B]0;title\\x07\\x1B[2J";
    folder.write("text.txt", evil + small_text());
    check_has(execute(folder.train("--sample-prompt", evil, kSmall)).err, evil);  // the sample, in a file
    const Arguments command = words("generate --model", folder.out, "-p", evil, "-n 0 --seed 1");
    CHECK(program(command).out == evil + "\n");
    const auto harmless = [&](const Arguments& arguments, int code) {
        Terminal t(arguments);
        const std::string before = t.expect(shown);
        CHECK(t.wait() == code);
        CHECK((before + t.rest()).find("\x1b]") == std::string::npos);
    };
    harmless(command, 0);
    harmless(folder.resume("--max-iters 21"), 0);                                 // its sample
    harmless(words("eval --model", folder.path(evil), "--data", folder.out), 3);  // a name in an error
    harmless({"report", folder.out, "--out", folder.path(evil + ".html")}, 0);    // and in what was done
}

TEST_CASE("generate: text on stdin that nobody named is told, and not waited for", "[cli]") {
    const std::string advice = "standard input is not read: -f - continues it\n",
                      run = "\"$inkling\" generate --model \"$run\" -n 2 ";
    check_has(shell("(echo the; sleep 0.1) | (sleep 0.05; " + run + ")").err, advice);
    check_has(shell("echo the | (sleep 0.05; " + run + "-p fox --json)").err, advice);
    const ScratchFolder folder;
    const std::string line = "<\"" + folder.write("line", "the\n") + "\"";
    check_has(shell(run + line).err, advice);
    for (const std::string& quiet : {"echo the | (sleep 0.05; " + run + "-f -)", run + "-p fox " + line,
                                     run + "</dev/null", run + "<&-", "sleep 1 | " + run}) {
        if (kEmulated && quiet.ends_with("<&-")) continue;  // an emulator opens files of its own
        INFO(quiet);
        check_lacks(succeeded(shell(quiet)).err, "standard input");
    }
}

TEST_CASE("generate: a model whose files are replaced one by one is the old one, the new one or one line", "[cli]") {
    const ModelFolder a, b(false);
    const ScratchFolder folder;
    const fs::path place = folder.path("model");
    fs::copy(a.path(), place);
    const auto run = [&] { return program("generate --model", place, "-p abc -n 8 --temperature 0"); };
    const std::string of_a = run().out;
    std::atomic<bool> done = false;
    std::thread replacing([&] {
        for (std::size_t i = 0; !done; ++i) {
            for (const auto& file : fs::directory_iterator(i % 2 ? a.path() : b.path())) {
                const fs::path next = folder.path("next");
                fs::copy_file(file.path(), next, fs::copy_options::overwrite_existing);
                fs::rename(next, place / file.path().filename());
                std::this_thread::sleep_for(std::chrono::microseconds(500));
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    });
    std::vector<Result> results;
    for (int i = 0; i < 25; ++i) results.push_back(run());
    done = true;
    replacing.join();
    fs::copy(b.path(), place, fs::copy_options::overwrite_existing | fs::copy_options::recursive);
    const std::string of_b = run().out;
    CHECK(of_a != of_b);
    for (const Result& r : results) {
        INFO(r.out << r.err);
        if (r.code != 0) check_fails(r, 3);
        if (r.code == 0) CHECK((r.out == of_a || r.out == of_b));
    }
}
