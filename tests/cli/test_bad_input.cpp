// Bad input (exit code 3), failing writes (1) and divergence (4): one line on stderr, and no partial output.
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/cli/program.h"

using namespace inkling::testing;

TEST_CASE("bad input: texts that cannot be trained on, and no --out is made", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("out");
    fs::create_directories(folder.path("empty folder"));
    folder.write("no text/.hidden", "text");
    folder.write("no text/picture.png", std::string("\x89PNG\0\0", 6));
    const auto train = [&](const std::string& data) {
        return program(Arguments{"train", "--data", data, "--out", out} + kSmall);
    };
    check_fails(train(folder.path("missing.txt")), 3, folder.path("missing.txt"));
    check_fails(train(folder.write("empty.txt", "")), 3, "empty.txt");
    check_fails(train(folder.write("latin1.txt", small_text() + "caf\xe9 au lait")), 3, "latin1.txt");
    check_fails(train(folder.write("short.txt", "abc")), 3, "--block-size");
    check_fails(train(folder.path("empty folder")), 3, "empty folder");
    check_fails(train(folder.path("no text")), 3, "no text");
    check_fails(call(Arguments{"train", "--data", "-", "--out", out} + kSmall), 3, "standard input");
    const std::string text = folder.write("text.txt", small_text());
    check_fails(
        program(Arguments{"train", "--data", text, "--out", out, "--config", folder.path("none.toml")} + kSmall), 3,
        "none.toml");
    check_fails(
        call(Arguments{"train", "--data", text, "--out", out, "--config", folder.write("bad.toml", "n_layers = 3\n")} +
             kSmall),
        3, "unknown key 'n_layers'");
    check_fails(
        program(Arguments{"train", "--data", text, "--out", out, "--init-from", folder.path("empty folder")} + kSmall),
        3, "empty folder");
    check_fails(call(Arguments{"train", "--data", text, "--out", out, "--resume", folder.path("nowhere")} + kSmall), 3,
                "nowhere");
    check_fails(
        program(Arguments{"train", "--data", text, "--out", out, "--tokenizer", folder.path("t.json")} + kSmall), 3,
        "t.json");
    CHECK_FALSE(fs::exists(out));
}

TEST_CASE("bad input: prompts and texts that the model cannot read", "[cli]") {
    const ScratchFolder folder;
    check_fails(call({"generate", "--model", small_run(), "-p", "the fox\xe2\x82\xac", "--strict-vocabulary"}), 3,
                "--prompt: the character");
    check_fails(call({"generate", "--model", small_run(), "-p", "fox\xff"}), 3, "--prompt: not UTF-8: byte 3 is 0xFF");
    const std::string latin1 = folder.write("latin1.txt", "caf\xe9");
    for (const Arguments& command :
         {Arguments{"generate", "--model", small_run()}, Arguments{"attention", "--model", small_run(), "--json"}}) {
        check_fails(call(command + Arguments{"-f", latin1}), 3, latin1 + ": ");
        check_fails(program(command + Arguments{"-f", "-"}, "", latin1), 3, "standard input: ");
    }
    check_fails(call({"generate", "--model", small_run(), "-f", folder.path("none.txt")}), 3, "none.txt");
    check_fails(
        call({"eval", "--model", small_run(), "--data", folder.write("other.txt", "THE FOX"), "--strict-vocabulary"}),
        3, folder.path("other.txt") + ": the character 'T' (U+0054) at byte 0");
    check_fails(call({"eval", "--model", small_run(), "--data", folder.write("one.txt", "t")}), 3,
                folder.path("one.txt") + ": a text of at least 2 tokens");
    check_fails(call({"eval", "--model", small_run(), "--data", folder.path("none.txt")}), 3, "none.txt");
}

TEST_CASE("bad input: FIFOs, devices and giant files are refused by name where files are read whole", "[cli]") {
    const CopiedRun run;
    const ScratchFolder& folder = run.folder;
    const std::string text = folder.write("text.txt", small_text()), fifo = folder.path("fifo");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);  // nobody writes to it: who waits for it waits for ever
    const std::string giant = folder.write("giant", "x");
    fs::resize_file(giant, std::uintmax_t{1} << 40);
    for (const std::string& path : {fifo, std::string("/dev/zero"), giant}) {
        check_fails(call(Arguments{"train", "--data", text, "--out", folder.path("out"), "--config", path} + kSmall), 3,
                    "cannot read " + path + ": it ");
        check_fails(call({"generate", "--model", folder.path("run"), "-f", path}), 3, "cannot read " + path + ": it ");
        check_fails(call({"attention", "--model", folder.path("run"), "--json", "-f", path}), 3,
                    "cannot read " + path + ": it ");
        check_fails(call({"tokenize", "encode", "--tokenizer", path, "-f", text}), 3, "cannot read " + path + ": it ");
        if (path != fifo)  // which may be text
            check_fails(call({"eval", "--model", folder.path("run"), "--data", path}), 3,
                        "cannot read " + path + ": it ");
    }
    // an endless standard input is refused
    check_fails(program({"generate", "--model", folder.path("run"), "-f", "-"}, "", "/dev/zero"), 3,
                "standard input: it has more than 512 MB");
    check_fails(program({"generate", "--model", folder.path("run"), "-f", "-"}, "", folder.path()), 3,
                "cannot read standard input: Is a directory");
}

TEST_CASE("bad input: --data may be a FIFO", "[cli]") {
    const ScratchFolder folder;
    const std::string fifo = folder.path("fifo");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(fifo) << small_text(); });
    const Result r = program({"eval", "--model", small_run(), "--data", fifo, "--json"});
    writer.join();
    CHECK(r.out == program({"eval", "--model", small_run(), "--data", folder.write("a", small_text()), "--json"}).out);
    CHECK(r.code == 0);
}

TEST_CASE("bad input: links that lead in a circle", "[cli]") {
    const ScratchFolder folder;
    const std::string loop = folder.path("loop"), text = folder.write("text.txt", small_text()),
                      message = "cannot read " + loop + ": Too many levels of symbolic links";
    fs::create_symlink("loop", loop);
    const Arguments train = Arguments{"train", "--data", text, "--out", folder.path("out")} + kSmall;
    check_fails(call(Arguments{"train", "--data", loop, "--out", folder.path("out")} + kSmall), 3, message);
    check_fails(call(Arguments{"train", "--data", text, "--out", loop} + kSmall), 3, message);
    for (const char* flag : {"--config", "--resume", "--init-from", "--tokenizer"})
        check_fails(call(train + Arguments{flag, loop}), 3, message);
    for (const char* command : {"generate", "eval", "info", "attention", "export"}) {
        Arguments arguments = {command, "--model", loop};
        if (std::string(command) == "eval") arguments = arguments + Arguments{"--data", text};
        if (std::string(command) == "attention") arguments = arguments + Arguments{"-p", "the", "--json"};
        if (std::string(command) == "export") arguments = arguments + Arguments{"--out", folder.path("o.gguf")};
        check_fails(call(arguments), 3, message);
    }
    check_fails(call({"generate", "--model", small_run(), "-f", loop}), 3, message);
    check_fails(call({"tokenize", "encode", "--tokenizer", loop, "-f", text}), 3, message);
    check_fails(call({"tokenize", "encode", "--tokenizer", small_run(), "-f", loop}), 3, message);
    CHECK_FALSE(fs::exists(folder.path("out")));
}

TEST_CASE("bad input: model folders that are missing or damaged", "[cli]") {
    const ScratchFolder folder;
    for (const char* command : {"generate", "info"}) {
        check_fails(call({command, "--model", folder.path("none")}), 3, "none");
        check_fails(call({command, "--model", folder.path()}), 3, folder.path());
    }
    const CopiedRun run;
    const std::string weights = read_file(run.folder.path("run/best/model.safetensors"));
    run.folder.write("run/best/model.safetensors", weights.substr(0, weights.size() / 2));
    for (const char* command : {"generate", "info"})
        check_fails(call({command, "--model", run.folder.path("run")}), 3, "model.safetensors");
    run.folder.write("run/best/model.safetensors", weights);
    run.folder.write("run/best/config.json", "{\"model_type\": \"mamba\"}");
    check_fails(call({"generate", "--model", run.folder.path("run")}), 3, "'mamba' is not supported");
    fs::remove(run.folder.path("run/best/config.json"));  // then `latest` stands in
    CHECK(program({"info", "--model", run.folder.path("run")}).code ==
          (fs::equivalent(run.folder.path("run/best"), run.folder.path("run/latest")) ? 3 : 0));
}

TEST_CASE("failed run: an --out that cannot be, and a stdout that is full", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    check_fails(call(Arguments{"train", "--data", text, "--out", text} + kSmall), 1, text);
    check_fails(call(Arguments{"train", "--data", text, "--out", text + "/out"} + kSmall), 1, text);
    check_fails(call(Arguments{"train", "--data", text, "--out", "/proc/inkling"} + kSmall), 1, "/proc/inkling");
    CHECK(read_file(text) == small_text());
    for (const Arguments& command :
         {Arguments{"generate", "--model", small_run(), "-n", "3", "--json"}, Arguments{"info", "--model", small_run()},
          Arguments{"eval", "--model", small_run(), "--data", text}, Arguments{"gradcheck", "--filter", "Linear"}})
        check_fails(program(command, "/dev/full"), 1, "stdout: cannot be written: No space left on device");
}

TEST_CASE("failed run: a learning rate that is absurd diverges, and leaves no broken checkpoint", "[cli]") {
    const NewRun run;
    const Result r = ended_with(4, program(run.train + small({"--learning-rate", "1000000", "--min-lr", "1000000",
                                                              "--warmup-iters", "0", "--max-iters", "500"})));
    CHECK(r.out.empty());
    CHECK_THAT(r.err, contains("\ninkling: training diverged", "--learning-rate",
                               "warning: step 2: every value and gradient is finite, and the norm of the gradients "
                               "is not: the largest is ",
                               "learning rate 1e+06: the step is skipped"));
    for (const std::string& name : names_in(run.out)) {
        CHECK_FALSE(name.starts_with(".unfinished"));
        if (name.starts_with("step-")) succeeded(program({"info", "--model", run.out + "/" + name}));
    }
}
