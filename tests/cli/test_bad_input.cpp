// Bad input (exit code 3) and failing writes (1): one line on stderr, and no partial output.
#include "tests/cli/program.h"

TEST_CASE("bad input: texts that cannot be trained on, and no --out is made", "[cli]") {
    const TrainFolder folder;
    const std::string empty = folder.path("empty folder");
    fs::create_directories(empty);
    folder.write("no text/.hidden", "text"), folder.write("no text/picture.png", std::string("\x89PNG\0\0", 6));
    const std::string latin1 = folder.write("latin1.txt", small_text() + "caf\xe9 au lait");
    for (const auto& [data, message] :
         std::vector<std::pair<std::string, std::string>>{{folder.path("missing.txt"), folder.path("missing.txt")},
                                                          {folder.write("empty.txt", ""), "empty.txt"},
                                                          {latin1, "latin1.txt"},
                                                          {folder.write("short.txt", "abc"), "--block-size"},
                                                          {empty, "empty folder"},
                                                          {folder.path("no text"), "no text"},
                                                          {"-", "standard input"}})
        check_fails(program("train --data", data, "--out", folder.out, kSmall), 3, message);
    for (const auto& [flag, value, message] : std::vector<std::tuple<std::string, std::string, std::string>>{
             {"--config", folder.path("none.toml"), "none.toml"},
             {"--config", folder.write("bad.toml", "n_layers = 3\n"), "unknown key 'n_layers'"},
             {"--init-from", empty, "empty folder"},
             {"--resume", folder.path("nowhere"), "nowhere"},
             {"--tokenizer", folder.path("t.json"), "t.json"}})
        check_fails(call(folder.train(flag, value, kSmall)), 3, message);
    CHECK_FALSE(fs::exists(folder.out));
}

TEST_CASE("bad input: prompts and texts that the model cannot read", "[cli]") {
    const ScratchFolder folder;
    const Arguments generate = words("generate --model", small_run());
    check_fails(call(generate + "-p fox\xff"), 3, "--prompt: not UTF-8: byte 3 is 0xFF");
    check_fails(call(generate + "-f" + folder.path("none.txt")), 3, "none.txt");
    const std::string latin1 = folder.write("latin1.txt", "caf\xe9");
    for (const Arguments& command : {generate, words("attention --json --model", small_run())}) {
        check_fails(call(command + "-f" + latin1), 3, latin1 + ": ");
        check_fails(program(command + "-f -", "", latin1), 3, "standard input: ");
    }
    const auto refused = [&](const std::string& path, const std::string& why) {
        check_fails(call("eval --strict-vocabulary --model", small_run(), "--data", path), 3, path + why);
    };
    refused(folder.write("other.txt", "THE FOX"), ": the character 'T' (U+0054) at byte 0");
    refused(folder.write("one.txt", "t"), ": expected a text of at least 2 tokens"),
        refused(folder.path("none.txt"), "");
}

TEST_CASE("bad input: FIFOs, devices, giant files and links in a circle are refused by name", "[cli]") {
    const CopiedRun run;
    const std::string fifo = run.path("fifo"), giant = run.write("giant", "x"), loop = run.path("loop"),
                      out = run.path("out"), config = fs::canonical(run.out + "/best").string() + "/config.json";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);  // nobody writes to it: who waits for it waits for ever
    fs::resize_file(giant, std::uintmax_t{1} << 40);
    fs::create_symlink("loop", loop);
    const Arguments generate = words("generate --model", small_run(), "-f"),
                    train = words("train --data", run.text, "--out", out, kSmall);
    for (const std::string& path : {fifo, std::string("/dev/zero"), giant, loop}) {  // what is read whole
        for (const Arguments& command :
             {train + "--config", generate, words("attention --model", small_run(), "--json -f"),
              words("tokenize encode -f", run.text, "--tokenizer")})
            check_fails(call(command + path), 3, "cannot read " + path + ": ");
        if (path != fifo)  // which may be text
            check_fails(call("eval --model", small_run(), "--data", path), 3, "cannot read " + path + ": ");
        if (path == loop) continue;
        fs::remove(config);
        fs::create_symlink(path, config);
        check_fails(call("generate --model", run.out, "-p the"), 3, config + ": ");
    }
    for (const Arguments& command :
         {words("train --out", out, kSmall, "--data"), words("train --data", run.text, kSmall, "--out"),
          train + "--resume", train + "--init-from", train + "--tokenizer", words("generate --model"),
          words("info --model"), words("eval --data", run.text, "--model"), words("attention -p the --json --model"),
          words("export --out", run.path("o.gguf"), "--model"),
          words("tokenize encode --tokenizer", small_run(), "-f")})
        check_fails(call(command + loop), 3, "cannot read " + loop + ": Too many levels of symbolic links");
    CHECK_FALSE(fs::exists(out));
    // an endless standard input is refused
    check_fails(program(generate + "-", "", "/dev/zero"), 3, "standard input: it has more than 512 MB");
    check_fails(program(generate + "-", "", run.path()), 3, "cannot read standard input: Is a directory");
}

TEST_CASE("bad input: --data may be a FIFO", "[cli]") {
    const TrainFolder folder;
    const std::string fifo = folder.path("fifo");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(fifo) << small_text(); });
    const Arguments eval = words("eval --json --model", small_run(), "--data");
    const Result r = program(eval + fifo);
    writer.join();
    CHECK(succeeded(r).out == program(eval + folder.text).out);
}

TEST_CASE("failed run: an --out that cannot be, and a stdout that is full", "[cli]") {
    const TrainFolder folder;
    for (const std::string& out : {folder.text, folder.text + "/out", std::string("/proc/inkling")})
        check_fails(call("train --data", folder.text, "--out", out, kSmall), 1, out);
    CHECK(read_file(folder.text) == small_text());
    for (const Arguments& command :
         {words("generate --model", small_run(), "-n 3 --json"), words("info --model", small_run()),
          words("eval --model", small_run(), "--data", folder.text), words("gradcheck --filter Linear"),
          words("--help"), words("train --help"), words("--version")})
        check_fails(program(command, "/dev/full"), 1, "stdout: cannot be written: No space left on device");
}
