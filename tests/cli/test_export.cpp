// inkling export: a GGUF file, or a folder with the model alone.
#include "formats/safetensors/safetensors.h"
#include "tests/cli/program.h"
#include "tests/support/gguf.h"

const std::string kNanoChat = tests_path("reference/nanochat_tiny");

static std::string text_of(const std::string& model) {
    return execute("generate --model", model, "-p hello -n 7 --temp 0").out;
}

TEST_CASE("export: gguf in every type, over what was there", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("m.gguf");
    std::uintmax_t last = 0;
    for (const char* type : {"q4_0", "q4_k_m", "q8_0", "f16", "bf16", "f32"}) {
        const Result r = execute("export --model", small_run(), "--out", out, "--format gguf --type", type);
        CHECK(r.out.empty());
        const Gguf file(out);
        check_holds(file.pairs, "general.name", "run", "gpt2.context_length", 8);
        CHECK(file.tensors.at("token_embd.weight").shape == std::vector<std::uint64_t>{29, 16});
        CHECK(fs::file_size(out) >= last);
        check_has(r.err, "wrote " + out + ": gguf, " + type + "\n");
        last = fs::file_size(out);
    }
    // f32 and gguf are the defaults
    const std::string by_name = read_file(out);
    execute("export --model", small_run() + "/", "--out", out);
    CHECK(read_file(out) == by_name);
}

TEST_CASE("export: a folder with the model alone, in any precision, with the same text", "[cli]") {
    const ScratchFolder folder;
    for (const auto& [type, stored, torch] : std::vector<std::tuple<std::string, std::string, std::string>>{
             {"f32", "F32", "float32"}, {"f16", "F16", "float16"}, {"bf16", "BF16", "bfloat16"}}) {
        const std::string out = folder.path(type);
        check_has(execute("export --model", kNanoChat, "--out", out, "--format hf --type", type).err,
                  "wrote " + out + ": hf, " + type + "\n");
        CHECK(names_in(out) == std::vector<std::string>{"config.json", "generation_config.json", "model.safetensors",
                                                        "tokenizer.json", "tokenizer_config.json"});
        const auto file = inkling::formats::SafetensorsFile::open(out + "/model.safetensors");
        CHECK(file.tensor("lm_head.weight").layout->name == stored);
        CHECK(json_in(out + "/config.json")["torch_dtype"] == torch);
        if (type != "bf16") CHECK(text_of(out) == text_of(kNanoChat));
        CHECK(text_of(out).size() == text_of(kNanoChat).size());
    }
    execute("export --model", small_run(), "--out", folder.path("a/"), "--format hf");
    CHECK(read_file(folder.path("a/model.safetensors")) == read_file(small_run() + "/best/model.safetensors"));
    CHECK_FALSE(fs::exists(folder.path("a/training_state.safetensors")));
}

TEST_CASE("export: a nanochat as qwen3, with a warning where it has a soft cap", "[cli]") {
    const ScratchFolder folder;
    const std::string capless = folder.path("capless");
    fs::copy(kNanoChat, capless);
    auto config = json_in(capless + "/config.json");
    config["final_logit_softcapping"] = nullptr;
    folder.write("capless/config.json", config.dump());
    for (const std::string& model : {kNanoChat, capless})
        for (const std::string format : {"gguf", "hf-qwen3"}) {
            const std::string out = folder.path(format + (model == capless ? "-capless" : ""));
            const Result r = execute("export --model", model, "--out", out, "--format", format);
            const bool warned =
                r.err.find("warning: this model caps its logits at 15, and a qwen3 cannot") != std::string::npos;
            CHECK(warned == (model == kNanoChat));
            if (warned) check_has(r.err, "--init-from " + model + " --softcap 0");
            if (format == "gguf") {
                CHECK(Gguf(out).pairs["general.architecture"] == "qwen3");
            } else {
                CHECK(json_in(out + "/config.json")["architectures"][0] == "Qwen3ForCausalLM");
                CHECK(text_of(out) == text_of(model));
                execute("export --model", out, "--out", out + "2", "--format hf-qwen3");
                CHECK(read_file(out + "/model.safetensors") == read_file(out + "2/model.safetensors"));
            }
        }
}

TEST_CASE("export: what cannot be is one line, and leaves nothing", "[cli]") {
    const ScratchFolder folder;
    const Arguments run = words("export --model", small_run()), to = words("--out", folder.path("out"));
    check_fails(call(run + to + "--format hf-qwen3"), 3, "a gpt2 cannot be written as qwen3: nanochat can");
    check_fails(call("export --format hf-qwen3 --type q8_0 --model", kNanoChat, to), 2,
                "--type for --format hf-qwen3 must be one of f32, f16, bf16, got 'q8_0'");
    check_fails(call(run + to + "--format onnx"), 2, "onnx"), check_fails(call(run + to + "--type q3_0"), 2, "q3_0");
    check_fails(call(run + to + "--format hf --type q8_0"), 2, "q8_0");
    check_fails(call("export --model", folder.path("none"), to), 3, "no such model folder");
    check_fails(call(run), 2, "--out"), check_fails(call(run + "--out ''"), 2, "--out");
    check_fails(call(run + "--out" + folder.path("no/where/x.gguf")), 1, "x.gguf");
    folder.write("kept/notes.txt", "mine");
    check_fails(call(run + "--format hf --out" + folder.path("kept")), 2, "already exists");
    CHECK(read_file(folder.path("kept/notes.txt")) == "mine");
    CHECK(std::distance(fs::directory_iterator(folder.path("")), {}) == 1);
}

TEST_CASE("output files: a file of another kind stays, unless --overwrite is given, a checkpoint's always", "[cli]") {
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
        check_fails(call(command + to), 2, "--out " + path + ": this file exists and is not ");
        CHECK(read_file(path) == "mine");
        execute(command + to + "--overwrite");
        CHECK_ALL(read_file(path) != "mine", read_file(path).starts_with(begins));
        const int again = program(command + to).code;  // what has no mark of its own is nobody's
        CHECK(again == (begins.empty() ? 2 : 0));
        folder.write(file, "");
        execute(command + to);
    }
    const CopiedRun run;
    const std::string weights = run.out + "/latest/model.safetensors", tokenizer = run.out + "/best/tokenizer.json";
    const std::string before = read_file(weights), own = read_file(tokenizer);
    check_fails(call("export --model", small_run(), "--out", weights), 2, "is not a GGUF file");
    check_fails(call("tokenize train --data", run.text, "--vocab-size 260 --out", tokenizer), 2,
                "it belongs to the model in its folder");
    CHECK_ALL(read_file(weights) == before, read_file(tokenizer) == own);
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
    CHECK_ALL(read_file(model) == bytes, read_file(text).ends_with(small_text()));
}
