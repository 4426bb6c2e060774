// Bad input (exit code 3), failing writes (1) and divergence (4): one line on stderr, and nothing half made.
#include "tests/cli/program.h"

using namespace inkling::testing;
using inkling::data::tests::ScratchFolder;
namespace fs = std::filesystem;

namespace {

void copy_run(const ScratchFolder& folder) {
    fs::copy(small_run(), folder.path("run"), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

}  // namespace

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
    check_fails(program(Arguments{"train", "--data", "-", "--out", out} + kSmall), 3, "standard input");
    const std::string text = folder.write("text.txt", small_text());
    check_fails(
        program(Arguments{"train", "--data", text, "--out", out, "--config", folder.path("none.toml")} + kSmall), 3,
        "none.toml");
    check_fails(program(Arguments{"train", "--data", text, "--out", out, "--config",
                                  folder.write("bad.toml", "n_layers = 3\n")} +
                        kSmall),
                3, "unknown key 'n_layers'");
    check_fails(
        program(Arguments{"train", "--data", text, "--out", out, "--init-from", folder.path("empty folder")} + kSmall),
        3, "empty folder");
    check_fails(program(Arguments{"train", "--data", text, "--out", out, "--resume", folder.path("nowhere")} + kSmall),
                3, "nowhere");
    check_fails(
        program(Arguments{"train", "--data", text, "--out", out, "--tokenizer", folder.path("t.json")} + kSmall), 3,
        "t.json");
    CHECK_FALSE(fs::exists(out));
}

TEST_CASE("bad input: prompts and texts that the model cannot read", "[cli]") {
    const ScratchFolder folder;
    check_fails(program({"generate", "--model", small_run(), "-p", "the fox\xe2\x82\xac"}), 3, "U+20AC");
    check_fails(program({"generate", "--model", small_run(), "-p", "fox\xff"}), 3, "UTF-8");
    check_fails(program({"generate", "--model", small_run(), "-f", folder.path("none.txt")}), 3, "none.txt");
    check_fails(program({"eval", "--model", small_run(), "--data", folder.write("other.txt", "THE FOX")}), 3, "'T'");
    check_fails(program({"eval", "--model", small_run(), "--data", folder.write("one.txt", "t")}), 3,
                "at least 2 tokens");
    check_fails(program({"eval", "--model", small_run(), "--data", folder.path("none.txt")}), 3, "none.txt");
}

TEST_CASE("bad input: model folders that are missing or damaged", "[cli]") {
    const ScratchFolder folder;
    for (const char* command : {"generate", "info"}) {
        check_fails(program({command, "--model", folder.path("none")}), 3, "none");
        check_fails(program({command, "--model", folder.path()}), 3, folder.path());
    }
    copy_run(folder);
    const std::string weights = inkling::data::read_file(folder.path("run/best/model.safetensors"));
    folder.write("run/best/model.safetensors", weights.substr(0, weights.size() / 2));
    for (const char* command : {"generate", "info"})
        check_fails(program({command, "--model", folder.path("run")}), 3, "model.safetensors");
    folder.write("run/best/model.safetensors", weights);
    folder.write("run/best/config.json", "{\"model_type\": \"llama\"}");
    check_fails(program({"generate", "--model", folder.path("run")}), 3, "'llama' is not supported");
    fs::remove(folder.path("run/best/config.json"));  // then `latest` stands in
    CHECK(program({"info", "--model", folder.path("run")}).code ==
          (fs::equivalent(folder.path("run/best"), folder.path("run/latest")) ? 3 : 0));
}

TEST_CASE("failed run: an --out that cannot be, and a stdout that is full", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    check_fails(program(Arguments{"train", "--data", text, "--out", text} + kSmall), 1, text);
    check_fails(program(Arguments{"train", "--data", text, "--out", text + "/out"} + kSmall), 1, text);
    check_fails(program(Arguments{"train", "--data", text, "--out", "/proc/inkling"} + kSmall), 1, "/proc/inkling");
    CHECK(inkling::data::read_file(text) == small_text());
    for (const Arguments& command :
         {Arguments{"generate", "--model", small_run(), "-n", "3", "--json"}, Arguments{"info", "--model", small_run()},
          Arguments{"eval", "--model", small_run(), "--data", text}, Arguments{"gradcheck", "--filter", "Linear"}})
        check_fails(program(command, "/dev/full"), 1, "stdout: cannot be written: No space left on device");
}

TEST_CASE("failed run: a learning rate that is absurd diverges, and leaves no broken checkpoint", "[cli]") {
    const ScratchFolder folder;
    const Result r = program(
        Arguments{"train", "--data", folder.write("text.txt", small_text()), "--out", folder.path("out")} +
        small({"--learning-rate", "1000000", "--min-lr", "1000000", "--warmup-iters", "0", "--max-iters", "500"}));
    INFO(r.err);
    CHECK(r.code == 4);
    CHECK(r.out.empty());
    CHECK_THAT(r.err, ContainsSubstring("\ninkling: training diverged") && ContainsSubstring("--learning-rate"));
    for (const auto& entry : fs::directory_iterator(folder.path("out"))) {
        const std::string name = entry.path().filename().string();
        CHECK_FALSE(name.starts_with(".unfinished"));
        if (name.starts_with("step-")) CHECK(program({"info", "--model", entry.path().string()}).code == 0);
    }
}
