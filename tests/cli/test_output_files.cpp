// Output files of commands: they replace files of the same kind; others need --overwrite.
#include "tests/cli/program.h"

using namespace inkling::testing;

TEST_CASE("output files: a file of another kind stays, unless --overwrite is given", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    const Arguments model = {"--model", small_run()}, prompt = {"--prompt", "the", "--threads", "1"};
    struct Case {
        Arguments command;
        std::string file, begins;
    };
    for (const auto& [command, file, begins] : std::vector<Case>{
             {Arguments{"export"} + model, "out.gguf", "GGUF"},
             {{"tokenize", "train", "--data", text, "--vocab-size", "260", "--threads", "1"}, "own.json", "{"},
             {{"report", small_run()}, "page.html", "<!DOCTYPE html>"},
             {{"report", small_run()}, "curve.svg", "<svg"},
             {{"report", small_run()}, "curve.png", "\x89PNG"},
             {Arguments{"attention"} + model + prompt, "heads.html", "<!DOCTYPE html>"},
             {Arguments{"attention"} + model + prompt, "heads.json", "{"},
             {Arguments{"attention"} + model + prompt, "heads.txt", ""}}) {
        INFO(file);
        const std::string path = folder.write(file, "mine"), mine = read_file(path);
        const Arguments to = Arguments{"--out", path};
        check_fails(call(command + to), 2, "--out " + path + ": there is a file already that is not ");
        CHECK(read_file(path) == "mine");
        succeeded(program(command + to + Arguments{"--overwrite"}));
        CHECK((read_file(path) != "mine" && read_file(path).starts_with(begins)));
        const int again = program(command + to).code;  // what has no mark of its own is nobody's
        CHECK(again == (begins.empty() ? 2 : 0));
        folder.write(file, "");
        succeeded(program(command + to));
    }
}

TEST_CASE("output files: the files of a checkpoint stay", "[cli]") {
    const CopiedRun run;
    const std::string weights = run.out + "/latest/model.safetensors", tokenizer = run.out + "/best/tokenizer.json";
    const std::string before = read_file(weights), own = read_file(tokenizer);
    check_fails(call({"export", "--model", small_run(), "--out", weights}), 2, "is not a GGUF file");
    check_fails(call({"tokenize", "train", "--data", run.text, "--vocab-size", "260", "--out", tokenizer}), 2,
                "it belongs to the model in its folder");
    CHECK((read_file(weights) == before && read_file(tokenizer) == own));
}
