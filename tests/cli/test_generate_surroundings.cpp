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

Arguments interactive(const Arguments& more) { return words("generate --model", small_run(), "--interactive", more); }

}  // namespace

TEST_CASE("generate: an output that cannot be written is one line and an exit code", "[cli]") {
    for (const char* out : {">&-", ">/dev/full"}) {
        for (const std::string flags : {"--no-prompt", "--json", "-n 0", "--interactive </dev/null -n 3", "--help"}) {
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
    harmless({"report", folder.out, "--out", folder.path(evil + ".svg")}, 0);     // and in what was done
}

TEST_CASE("generate: on a terminal, Ctrl-C stops a text or drops a line, Ctrl-D ends", "[cli]") {
    Terminal t(interactive(words("-n 100000000 --strict-vocabulary")));
    t.enter("the quick\n");
    t.expect("the quick\r\n");
    t.expect("o");  // it writes
    t.interrupt("\r\n> ");
    t.type("caf");
    t.expect("caf");
    t.interrupt("\r\n> ");
    t.type("caf\xC3\xA9\n");  // the editor knows characters of several bytes
    check_has(t.expect("> "), "the character '\xC3\xA9' (U+00E9) at byte 3");
    t.type("\x04");
    CHECK(t.wait() == 0);
    CHECK(t.rest().ends_with("\n"));
}

TEST_CASE("generate: on a terminal the text goes on in the line that was typed", "[cli]") {
    const char* const before = std::getenv("TERM");
    const std::string kind = before ? before : "";
    setenv("TERM", "xterm", 1);
    for (const auto& [columns, back] :
         std::vector<std::pair<unsigned short, std::string>>{{80, "\x1B[A\r\x1B[11C"},
                                                             {10, "\x1B[A\r\x1B[1C"},  // in the second row
                                                             {11, "\x1B[A\r"}}) {      // which is empty
        Terminal t(interactive(words("-n 3 --temperature 0")), columns);
        t.enter("the quick\n");
        t.expect("\n");
        check_has(t.expect("\r\n> "), back);
        t.type("/quit\n");
        CHECK(t.wait() == 0);
    }
    before ? setenv("TERM", kind.c_str(), 1) : unsetenv("TERM");
}

TEST_CASE("generate: text on stdin that nobody named is told, and not waited for", "[cli]") {
    const std::string advice = "standard input is not read: -f - continues it\n",
                      run = "\"$inkling\" generate --model \"$run\" -n 2 ";
    check_has(shell("(echo the; sleep 0.1) | (sleep 0.05; " + run + ")").err, advice);
    check_has(shell("echo the | (sleep 0.05; " + run + "-p fox --json)").err, advice);
    const ScratchFolder folder;
    const std::string line = "<\"" + folder.write("line", "the\n") + "\"";
    check_has(shell(run + line).err, advice);
    for (const std::string& quiet :
         {"echo the | (sleep 0.05; " + run + "-f -)", run + "-p fox " + line, run + "</dev/null", run + "<&-",
          "sleep 1 | " + run, "echo the | (sleep 0.05; " + run + "--interactive)"}) {
        if (kEmulated && quiet.ends_with("<&-")) continue;  // an emulator opens files of its own
        INFO(quiet);
        check_lacks(succeeded(shell(quiet)).err, "standard input");
    }
}

TEST_CASE("generate: a narrow terminal takes long lines", "[cli]") {
    Terminal t(interactive(words("-n 5 --json")), 12);
    for (const char* line : {"the quick brown fox jumps over the lazy dog\n", "\x1B[A\n"}) {  // and again, by the arrow
        t.enter(line);
        check_has(t.expect("\"stop_reason\""), "\"prompt_tokens\":43");
    }
    t.enter("\x04");
    CHECK(t.wait() == 0);
}

TEST_CASE("generate: without a terminal Ctrl-C ends the lines, too", "[cli]") {
    const ScratchFolder folder;
    const std::string in = folder.write("lines", "the quick\nzzzzzz\n"), text = folder.path("text");
    Process generate(interactive(words("-n 100000000 --temperature 0")), text, in);
    wait_for_file(text, 20);
    generate.signal(SIGINT);
    CHECK(generate.wait().code == 130);
    CHECK(read_file(text).find("zzzzzz") == std::string::npos);  // the second line, which is nothing the model writes
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
