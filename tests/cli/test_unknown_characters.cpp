// Characters that a model does not know: replaced, counted and reported once; --strict-vocabulary; --byte-fallback.
#include "tests/cli/program.h"

const std::string kNote = "characters that the model does not know ('\xC3\xA9', '\xE6\xBC\xA2') were replaced by ' '\n";

TEST_CASE("unknown characters: a prompt is continued, eval goes on, and both say what was replaced", "[cli]") {
    const std::string prompt = "the \xC3\xA9 fox \xE6\xBC\xA2 \xC3\xA9";
    const Arguments generate = words("generate -n 10 --seed 3 --model", small_run(), "-p");
    const Result r = execute(generate, prompt);
    CHECK(r.out.starts_with(prompt));  // as it was given
    CHECK(r.err.starts_with("3 " + kNote + "seed 3\n"));
    CHECK(json_of(generate, prompt)["text"] == json_of(generate, "'the   fox    '")["text"]);
    check_fails(call(generate + prompt + "--strict-vocabulary"), 3,
                "--prompt: the character '\xC3\xA9' (U+00E9) at byte 4 is not in the vocabulary");
    const Arguments attention = words("attention -p th\xC3\xA9 --json --model", small_run());
    check_has(execute(attention).err, "1 character that the model does not know ('\xC3\xA9') was replaced by ' '");
    check_fails(call(attention + "--strict-vocabulary"), 3, "at byte 2");
    const ScratchFolder folder;
    const std::string other = folder.write("other.txt", "the \xC3\xA9 fox \xE6\xBC\xA2 \xC3\xA9."),
                      spaces = folder.write("spaces.txt", "the   fox    .");
    const Arguments eval = words("eval --model", small_run());
    const auto a = json_of(eval, other), b = json_of(eval, spaces);
    CHECK_ALL(a["replaced"] == 3, b["replaced"] == 0);
    for (const char* key : {"loss", "bits_per_byte", "tokens"}) CHECK(a[key] == b[key]);  // of the text as replaced
    const Result text = execute(eval, other);
    CHECK(text.err == "3 " + kNote);
    check_has(text.out, "replaced       3 of 14 characters");
    check_lacks(execute(eval, spaces).out, "replaced");
    check_fails(call(eval + other + "--strict-vocabulary"), 3, other + ": the character '\xC3\xA9'");
    CHECK(json_of(eval, "--stories 1")["replaced"] > 1000);
    check_fails(call(eval + "--stories 1 --strict-vocabulary"), 3, "is not in the vocabulary");
}

TEST_CASE("unknown characters: tokenize, training with another tokenizer, and the validation part", "[cli]") {
    const ScratchFolder folder;
    const std::string other = folder.write("other.txt", small_text() + "caf\xC3\xA9\n"), out = folder.path("out");
    const Arguments encode = words("tokenize encode --tokenizer", small_run(), "-f", other);
    CHECK(execute(encode).err == "1 character that the model does not know ('\xC3\xA9') was replaced by ' '\n");
    check_fails(call(encode + "--strict-vocabulary"), 3, other + ": the character");
    const Arguments train = words("train", other, "--tokenizer", small_run(), "--out", out, kSmall);
    check_fails(call(train + "--strict-vocabulary"), 3, other + ": the character");
    check_has(execute(train).err, "warning: 1 character that the model does not know ('\xC3\xA9') was replaced");
    CHECK(read_file(out + "/latest/tokenizer.json") == read_file(small_run() + "/latest/tokenizer.json"));
    execute("train --out", out, "--resume auto --max-iters 25");
    execute("train", other, "--init-from", small_run(), "--out", folder.path("tuned"),
            "--max-iters 5 --recipe nanogpt-cpu --batch-size 2");
    check_has(program(train + "--overwrite --dry-run").out, "vocabulary 29");
    const std::string text = folder.write("text.txt", small_text() + "caf\xC3\xA9\n"), to = folder.path("out");
    for (const Arguments& more : {Arguments{}, words("--strict-vocabulary"), words("--byte-fallback always")}) {
        const Result r = execute("train", text, "--out", to, "--overwrite", kSmall, more);
        check_lacks(r.err, "does not know");
        check_has(r.err, "validation");
    }
}

TEST_CASE("byte fallback: a character model that takes any text", "[cli]") {
    const TrainFolder folder;
    check_has(execute("train", folder.text, "--byte-fallback always --out", folder.out, kSmall).err, "vocabulary 285 ");
    const std::string other = folder.write("other.txt", "THE \xE6\xBC\xA2 fox\n");
    const Result ids = execute("tokenize encode --tokenizer", folder.out, "-f", other);
    CHECK(ids.err.empty());
    CHECK(program("tokenize decode --tokenizer", folder.out, "-f", folder.write("ids", ids.out)).out ==
          "THE \xE6\xBC\xA2 fox\n");
    check_holds(json_of("eval --strict-vocabulary --model", folder.out, other), "replaced", 0, "tokens", 11);
    execute("generate --model", folder.out, "-p \xE6\xBC\xA2 -n 30 --temp 5");
    execute("export --model", folder.out, "--out", folder.path("a.gguf"));
    check_fails(program("train", folder.text, "--byte-fallback always --tokenizer bpe --out", folder.path("b")), 2,
                "--byte-fallback always is for --tokenizer char, got bpe");
}
