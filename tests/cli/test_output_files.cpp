// Output files of commands: they replace files of the same kind; others need --overwrite.
#include <tuple>

#include "tests/cli/program.h"

using namespace inkling::testing;

TEST_CASE("output files: a file of another kind stays, unless --overwrite is given", "[cli]") {
    const TrainFolder folder;
    const Arguments attention = words("attention --prompt the --threads 1 --model", small_run()),
                    report = words("report", small_run());
    for (const auto& [command, file, begins] : std::vector<std::tuple<Arguments, std::string, std::string>>{
             {words("export --model", small_run()), "out.gguf", "GGUF"},
             {words("tokenize train --vocab-size 260 --threads 1 --data", folder.text), "own.json", "{"},
             {report, "page.html", "<!DOCTYPE html>"},
             {attention, "heads.svg", "<svg"},
             {attention, "heads.html", "<!DOCTYPE html>"},
             {attention, "heads.json", "{"},
             {attention, "heads.txt", ""}}) {
        INFO(file);
        const std::string path = folder.write(file, "mine");
        const Arguments to = words("--out", path);
        check_fails(call(command + to), 2, "--out " + path + ": there is a file already that is not ");
        CHECK(read_file(path) == "mine");
        execute(command + to + "--overwrite");
        CHECK((read_file(path) != "mine" && read_file(path).starts_with(begins)));
        const int again = program(command + to).code;  // what has no mark of its own is nobody's
        CHECK(again == (begins.empty() ? 2 : 0));
        folder.write(file, "");
        execute(command + to);
    }
}

TEST_CASE("output files: the files of a checkpoint stay", "[cli]") {
    const CopiedRun run;
    const std::string weights = run.out + "/latest/model.safetensors", tokenizer = run.out + "/best/tokenizer.json";
    const std::string before = read_file(weights), own = read_file(tokenizer);
    check_fails(call("export --model", small_run(), "--out", weights), 2, "is not a GGUF file");
    check_fails(call("tokenize train --data", run.text, "--vocab-size 260 --out", tokenizer), 2,
                "it belongs to the model in its folder");
    CHECK((read_file(weights) == before && read_file(tokenizer) == own));
}
