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

TEST_CASE("output files: what a command reads is not replaced, through links either", "[cli]") {
    const ScratchFolder folder;
    const std::string model = folder.path("m.gguf"), link = folder.path("link.gguf");
    execute("export --model", tests_path("reference/llama_tiny"), "--out", model);
    fs::create_symlink("m.gguf", link);
    const std::string bytes = read_file(model);
    fs::copy(tests_path("reference/adapters/llama"), folder.path("adapter"));
    std::string config = read_file(folder.path("adapter/adapter_config.json"));
    const std::size_t at = config.find(':', config.find("base_model_name_or_path")) + 1;
    config.replace(at, config.find_first_of(",\n", at) - at, "\"" + model + "\"");
    const std::string adapter = (folder.write("adapter/adapter_config.json", config), folder.path("adapter"));
    const std::string text = folder.write("text.txt", "{\n  \"version\"" + small_text());
    for (const Arguments& command :
         {words("export --model", model, "--out", model), words("export --model", model, "--out", link),
          words("export --model", link, "--out", model), words("export --model", adapter, "--out", model),
          words("export --format gguf-lora --model", adapter, "--out", link),
          words("tokenize train --vocab-size 300 --data", text, "--out", text),
          words("tokenize train --vocab-size 300 --data", folder.path("*.txt"), "--out", text),
          words("attention --format text --model", model, "--prompt-file", text, "--out", text)}) {
        INFO(command[0] << ' ' << command[4]);
        for (const char* const overwrite : {"", "--overwrite"})
            check_has(ended_with(2, call(words(command) + Arguments(*overwrite ? 1 : 0, overwrite))).err, "--out ");
        check_has(call(command + Arguments{"--overwrite"}).err, "the command reads this file: choose another name");
    }
    CHECK(read_file(model) == bytes);
    CHECK(read_file(text).ends_with(small_text()));
}
