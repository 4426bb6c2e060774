// inkling generate: everything beside the text itself.
#include "tests/cli/terminal.h"
#include "tests/models/folders.h"

template <class... Pieces>
static Arguments generating(const Pieces&... more) {
    return words("generate --model", small_run(), "--seed 1337", more...);
}

static std::string text_of(const Arguments& more) { return json_of(generating(more))["text"]; }

// Runs a shell command line with "$inkling" and "$run"; stderr goes to a file unless the line redirects it.
static Result shell(const std::string& line) {
    const ScratchFolder folder;
    const std::string command = "inkling='" + std::string(kProgram) + "' run='" + small_run() + "'; exec 2>'" +
                                folder.path("err") + "'; " + line;
    Result r;
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    for (char c = 0; std::fread(&c, 1, 1, pipe) == 1;) r.out += c;
    const int status = pclose(pipe);
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), r.err = read_file(folder.path("err"));
    return r;
}

TEST_CASE("generate: ends before the first of several stop texts, and log-probabilities on request", "[cli]") {
    const Arguments flags = words("-p 'the quick' -n 60 --temperature 0.5");
    const std::string whole = text_of(flags), stop = whole.substr(20, 3), other = whole.substr(40, 2);
    const std::string text = whole.substr(0, std::min(whole.find(stop), whole.find(other)));
    const Arguments stopped = generating(flags, "--stop", stop, "--stop", other);
    check_holds(json_of(stopped), "text", text, "stop_reason", "stop");
    CHECK(program(stopped + "--no-prompt").out == text + "\n");
    check_fails(call(generating("--stop ''")), 2, "stop text");
    const auto j = json_of(generating("-p the -n 5 --logprobs 3"));
    REQUIRE(j["logprobs"].size() == 5);
    std::string all_text;
    for (const auto& token : j["logprobs"]) {
        all_text += token["text"].get<std::string>();
        REQUIRE(token["top"].size() == 3);
        CHECK_ALL(token["logprob"] <= token["top"][0]["logprob"], token["id"].is_number());
    }
    CHECK(all_text == j["text"].get<std::string>());
    check_fails(call(generating("-p the --logprobs 3")), 2, "--json");
}

TEST_CASE("generate: prompts that are empty or too long, and senseless choices", "[cli]") {
    const ScratchFolder folder;
    CHECK(program(generating("-n 7")).out.size() == 8);
    check_holds(json_of(generating("-n 7 -f", folder.write("empty", ""))), "prompt_tokens", 0, "tokens", 7);
    const Result longer = execute(generating("-f", folder.write("text", small_text()), "-n 9"));
    CHECK(longer.out.size() == small_text().size() + 9 + 1);
    check_has(longer.err, "the model sees the last 8");
    CHECK(json_of(generating("-p fox -n 0"))["stop_reason"] == "length");
    for (const Arguments& flag :
         {words("--top-p 0"), words("--top-p 1.1"), words("--min-p -1"), words("--repeat-penalty 0"),
          words("--top-k -1"), words("--temperature -1"), words("--temperature nan"), words("--context-shift 9")})
        check_fails(call(generating(flag)), 2, flag[0]);
    check_fails(call(generating("--quantize q4")), 2, "q4");
    check_fails(call(generating("--quantize q8_0 --precision bf16")), 2, "--precision");
}

TEST_CASE("generate: ends quietly when nobody reads, and in one line where it cannot write", "[cli]") {
    const std::string command = std::string("'") + kProgram + "' generate --model '" + small_run() +
                                "' -p 'the quick' -n 100000000 2>/dev/null | head -n 1 | wc -l";
    const Result unread = shell("timeout 20 sh -c \"" + command + "\"");
    CHECK_ALL(unread.code == 0, unread.out == "1\n");
    for (const char* out : {">&-", ">/dev/full"})
        for (const std::string flags : {"--no-prompt", "--json", "-n 0", "--help"}) {
            INFO(flags << " " << out);
            const Result r = shell("\"$inkling\" generate --model \"$run\" -p the " + flags + " " + out);
            check_has(ended_with(1, r).err, "inkling: stdout: cannot be written: ");
        }
    CHECK(shell("\"$inkling\" generate --model \"$run\" -p the -n 5 2>&- <&-").out.size() == 9);
}

TEST_CASE("generate: without --seed another text each time, which the seed that is told repeats", "[cli]") {
    const Arguments command = words("generate --model", small_run(), "-p the -n 40");
    const Result one = program(command), other = program(command);
    CHECK(one.out != other.out);
    REQUIRE(one.err.starts_with("seed "));
    const std::string seed = one.err.substr(5, one.err.find('\n') - 5);
    CHECK(program(command + words("--seed", seed)).out == one.out);
    const auto a = json_of(command), b = json_of(command);
    CHECK_ALL(a["seed"] != b["seed"], a["text"] != b["text"]);
    CHECK(json_of(command, "--seed", a["seed"].dump())["text"] == a["text"]);
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
        CHECK_ALL(t.wait() == code, (before + t.rest()).find("\x1b]") == std::string::npos);
    };
    harmless(command, 0);
    harmless(folder.resume("--max-iters 21"), 0);                                 // its sample
    harmless(words("eval --model", folder.path(evil), "--data", folder.out), 3);  // a name in an error
    harmless({"report", folder.out, "--out", folder.path(evil + ".html")}, 0);    // and in what was done
}

TEST_CASE("generate: text on stdin that nobody named is told, and not waited for", "[cli]") {
    const std::string advice = "stdin is ignored; use -f - to read the prompt from it\n",
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

TEST_CASE("generate: a model that is replaced all the time is read whole, file by file, or refused", "[cli]") {
    const ModelFolder a, b(false);
    const auto with = [](const fs::path& model) {
        return program("generate --model", model, "-p abc -n 8 --temperature 0");
    };
    const std::string of_a = with(a.path()).out, of_b = with(b.path()).out;
    CHECK(of_a != of_b);
    for (const bool by_files : {false, true}) {
        const ScratchFolder folder;
        const fs::path place = folder.path("best"), next = folder.path("next");
        by_files ? fs::copy(a.path(), place) : fs::create_directory_symlink(a.path(), place);
        std::atomic<bool> done = false;
        std::thread replacing([&] {
            for (std::size_t i = 0; !done; ++i) {
                const fs::path from = i % 2 ? a.path() : b.path();
                if (!by_files) {
                    fs::create_directory_symlink(from, next);
                    fs::rename(next, place);
                    std::this_thread::sleep_for(std::chrono::microseconds(300));
                    continue;
                }
                for (const auto& file : fs::directory_iterator(from)) {
                    fs::copy_file(file.path(), next, fs::copy_options::overwrite_existing);
                    fs::rename(next, place / file.path().filename());
                    std::this_thread::sleep_for(std::chrono::microseconds(500));
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        });
        std::vector<Result> results;
        for (int i = 0; i < 20; ++i) results.push_back(with(by_files ? place : fs::path(folder.path())));
        done = true;
        replacing.join();
        for (const Result& r : results) {
            INFO(r.out << r.err);
            if (by_files && r.code != 0) {
                check_fails(r, 3);
                continue;
            }
            CHECK_ALL(r.code == 0, (r.out == of_a || r.out == of_b));
        }
    }
}
