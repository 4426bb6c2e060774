// A GGUF file in place of a model folder: each command gives the same result.
#include "tests/cli/program.h"

const std::string kStories = tests_path("reference/greedy_gpt2");

static std::string stories_gguf(const ScratchFolder& folder, const std::string& type = "f32") {
    const std::string path = folder.path("stories.gguf");
    execute("export --model", kStories, "--out", path, "--type", type);
    return path;
}

const Arguments kGreedy = words("generate -p 'the hen' -n 9 --temp 0 --model");

TEST_CASE("gguf commands: a file says what its folder says", "[cli]") {
    const ScratchFolder folder;
    const std::string file = stories_gguf(folder), text = folder.write("text.txt", "the hen is in the garden.\n");
    for (const Arguments& command :
         {kGreedy, words("generate -p 'the hen' -n 9 --temp 0 --quantize q8_0 --model"),
          words("eval --data", text, "--model"), words("tokenize encode -f", text, "--tokenizer")})
        WITH_INFO(command[0], CHECK(execute(command, file).out == execute(command, kStories).out));
    execute("attention --model", file, "--prompt 'the hen' --out", folder.path("heads.html"));
    const auto info = json_of("info --model", file), own = json_of("info --model", kStories);
    for (const char* const key : {"arch", "n_layer", "block_size", "vocab_size", "tokenizer", "type"})
        CHECK(info[key] == own[key]);
    CHECK(info["folder"] == file);
}

TEST_CASE("gguf commands: a file is exported as a folder and in its type, and written from as it is", "[cli]") {
    const ScratchFolder folder;
    const std::string file = stories_gguf(folder, "q8_0"), out = folder.path("out");
    execute("export --model", file, "--out", out, "--format hf");
    CHECK(execute(kGreedy, out).out == execute(kGreedy, file).out);
    const std::string again = folder.path("again/stories.gguf"), third = folder.path("third/stories.gguf");
    for (const auto& [from, to] : {std::pair(file, again), {again, third}}) {
        fs::create_directory(fs::path(to).parent_path());
        check_has(execute("export --model", from, "--out", to).err, "gguf, q8_0");
    }
    CHECK(read_file(third) == read_file(again));  // and not the first, whose name in the file is its folder's
    const std::string words4 = stories_gguf(folder, "q4_0");
    const auto scores = [](const std::string& model, const Arguments& flags) {
        return json_of(kGreedy + words(model, "--logprobs 2") + flags)["logprobs"];
    };
    CHECK(scores(words4, {}) != scores(words4, words("--quantize q8_0")));
    CHECK(scores(words4, {}) != scores(words4, words("--precision fp32")));
    CHECK(scores(kStories, {}) == scores(kStories, words("--precision fp32")));
}

TEST_CASE("gguf commands: export writes a Modelfile beside the file, and replaces no other", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("m.gguf"), beside = folder.path("Modelfile");
    const Arguments start = words("export --model", kStories, "--out", out, "--modelfile");
    for (int again = 0; again < 2; ++again) {
        execute(start);
        CHECK(read_file(beside) == "FROM ./m.gguf\n");
    }
    const std::string other = folder.path("other.gguf");
    const auto kept = [&](const std::string& modelfile, const Arguments& command) {
        folder.write("Modelfile", modelfile);
        check_has(ended_with(3, program(command)).err, "differs: replace it with --overwrite");
        CHECK(read_file(beside) == modelfile);
    };
    kept("# mine", start);
    kept("FROM ./m.gguf\nSYSTEM You are a mouse.\n", start);  // of this file, with a line of the user's
    kept("FROM ./m.gguf\n", words("export --model", kStories, "--out", other, "--modelfile"));  // of another file
    CHECK_FALSE(fs::exists(other));
    execute(start + "--overwrite");
    CHECK(program(start + "--format hf").code == 2);
    fs::create_directory(folder.path("new"));
    check_fails(call("export --model", kStories, "--out", folder.path("new/Modelfile"), "--modelfile"), 2,
                "writes a file of this name");
    const std::string adapter = tests_path("reference/adapters/llama"), lora = folder.path("lora.gguf");
    execute("export --model", adapter, "--out", lora, "--format gguf-lora --modelfile --overwrite");
    CHECK(read_file(beside) == "FROM " + fs::path(tests_path("reference/llama_tiny")).lexically_normal().string() +
                                   "\nADAPTER ./lora.gguf\n");
}

TEST_CASE("gguf commands: training starts from a file, and one that is cut short is bad input", "[cli]") {
    const ScratchFolder folder;
    const std::string file = stories_gguf(folder, "q8_0"), out = folder.path("out");
    const std::string text =
        folder.write("text.txt", repeated("the hen is in the garden, and the duck is in the pond.\n", 3000));
    const Arguments start =
        words("train --init-from", file, "--data", text, "--out", out, "--max-iters 4 --threads 1 --overwrite");
    execute(start);
    execute("generate --model", out, "-n 3");
    for (const std::string precision : {"file", "q8_0", "bf16"}) {
        execute(start + words("--lora-rank 2 --base-precision", precision));
        execute("generate --model", out, "-n 3");
        execute("verify", out);
        execute("train --out", out, "--resume auto --max-iters 6");
    }
    check_has(execute(start + "--lora-rank 2 --dry-run").out, "the others in the file's types");
    const Arguments wide = words("--lora-rank 2 --dry-run --init-from", stories_gguf(folder, "bf16"));
    check_has(execute(start + wide).out, "the others in fp32");
    execute("train --data", text, "--out", out, "--max-iters 2 --tokenizer", file, "--overwrite");
    const ScratchFolder cut;
    const std::string half = stories_gguf(cut);
    fs::resize_file(half, fs::file_size(half) / 2);
    for (const Arguments& command : {words("generate --model"), words("tokenize encode -f /dev/null --tokenizer")}) {
        const Result r = program(command + half);
        check_fails(r, 3, "inkling: " + half + ": tensor ");
        check_has(r.err, "the file was cut short");
    }
    check_fails(program("generate --model", cut.path("none.gguf")), 3);
}
