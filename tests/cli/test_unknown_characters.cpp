// Characters that a model does not know: replaced, counted and reported once; --strict-vocabulary; --byte-fallback.
#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

const std::string kNote = "characters that the model does not know ('\xC3\xA9', '\xE6\xBC\xA2') were replaced by ' '\n";

}  // namespace

TEST_CASE("unknown characters: a prompt is continued, and a line says what was replaced", "[cli]") {
    const std::string prompt = "the \xC3\xA9 fox \xE6\xBC\xA2 \xC3\xA9";
    const Arguments flags = {"-p", prompt, "-n", "10", "--seed", "3"};
    const Result r = succeeded(program(Arguments{"generate", "--model", small_run()} + flags));
    CHECK(r.out.starts_with(prompt));  // as it was given
    CHECK(r.err.starts_with("3 " + kNote + "seed 3\n"));
    const auto with_spaces = [&](const std::string& p) {
        return json_lines(program({"generate", "--model", small_run(), "-p", p, "-n", "10", "--seed", "3", "--json"}))
            .at(0)["text"];
    };
    CHECK(with_spaces(prompt) == with_spaces("the   fox    "));
    check_fails(call(Arguments{"generate", "--model", small_run(), "--strict-vocabulary"} + flags), 3,
                "--prompt: the character '\xC3\xA9' (U+00E9) at byte 4 is not in the vocabulary");
    const Result map = succeeded(program({"attention", "--model", small_run(), "-p", "th\xC3\xA9", "--json"}));
    CHECK_THAT(map.err, contains("1 character that the model does not know ('\xC3\xA9') was replaced by ' '"));
    check_fails(call({"attention", "--model", small_run(), "-p", "th\xC3\xA9", "--json", "--strict-vocabulary"}), 3,
                "at byte 2");
    const ScratchFolder folder;
    const Result lines = succeeded(program({"generate", "--model", small_run(), "--interactive", "-n", "3"}, "",
                                           folder.write("in", "th\xC3\xA9\nfox\n\xE6\xBC\xA2\n")));
    CHECK_THAT(lines.err, contains("('\xC3\xA9')", "('\xE6\xBC\xA2')"));
}

TEST_CASE("unknown characters: eval says how many of the characters were replaced", "[cli]") {
    const ScratchFolder folder;
    const std::string other = folder.write("other.txt", "the \xC3\xA9 fox \xE6\xBC\xA2 \xC3\xA9."),
                      spaces = folder.write("spaces.txt", "the   fox    .");
    const Arguments eval = {"eval", "--model", small_run()};
    const auto a = json_lines(program(eval + Arguments{other, "--json"})).at(0),
               b = json_lines(program(eval + Arguments{spaces, "--json"})).at(0);
    CHECK((a["replaced"] == 3 && b["replaced"] == 0));
    for (const char* key : {"loss", "bits_per_byte", "tokens"}) CHECK(a[key] == b[key]);  // of the text as replaced
    const Result text = program(eval + Arguments{other});
    CHECK(text.err == "3 " + kNote);
    CHECK_THAT(text.out, contains("replaced       3 of 14 characters"));
    CHECK(program(eval + Arguments{spaces}).out.find("replaced") == std::string::npos);
    check_fails(call(eval + Arguments{other, "--strict-vocabulary"}), 3, other + ": the character '\xC3\xA9'");
    const Result stories = program(eval + Arguments{"--stories", "1", "--json"});
    INFO(stories.err);
    CHECK(json_lines(stories).at(0)["replaced"] > 1000);
    check_fails(call(eval + Arguments{"--stories", "1", "--strict-vocabulary"}), 3, "is not in the vocabulary");
}

TEST_CASE("unknown characters: tokenize encode, and training with the tokenizer of another run", "[cli]") {
    const ScratchFolder folder;
    const std::string other = folder.write("other.txt", small_text() + "caf\xC3\xA9\n"), out = folder.path("out");
    const Result ids = succeeded(program({"tokenize", "encode", "--tokenizer", small_run(), "-f", other}));
    CHECK(ids.err == "1 character that the model does not know ('\xC3\xA9') was replaced by ' '\n");
    check_fails(call({"tokenize", "encode", "--tokenizer", small_run(), "-f", other, "--strict-vocabulary"}), 3,
                other + ": the character");
    const Arguments train = Arguments{"train", other, "--tokenizer", small_run(), "--out", out} + kSmall;
    check_fails(call(train + Arguments{"--strict-vocabulary"}), 3, other + ": the character");
    const Result r = succeeded(program(train));
    CHECK_THAT(r.err, contains("warning: 1 character that the model does not know ('\xC3\xA9') was replaced"));
    CHECK(read_file(out + "/latest/tokenizer.json") == read_file(small_run() + "/latest/tokenizer.json"));
    succeeded(program({"train", "--out", out, "--resume", "auto", "--max-iters", "25"}));
    succeeded(program(Arguments{"train", other, "--init-from", small_run(), "--out", folder.path("tuned"),
                                "--max-iters", "5", "--recipe", "nanogpt-cpu", "--batch-size", "2"}));
    CHECK_THAT(program(train + Arguments{"--overwrite", "--dry-run"}).out, contains("vocabulary 29"));
}

TEST_CASE("unknown characters: one that only the validation part has is known", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text() + "caf\xC3\xA9\n"), out = folder.path("out");
    for (const Arguments& more :
         {Arguments{}, Arguments{"--strict-vocabulary"}, Arguments{"--byte-fallback", "always"}}) {
        const Result r = succeeded(program(Arguments{"train", text, "--out", out, "--overwrite"} + kSmall + more));
        CHECK(r.err.find("does not know") == std::string::npos);
        CHECK_THAT(r.err, contains("validation"));
    }
}

TEST_CASE("byte fallback: a character model that takes any text", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text()), out = folder.path("out");
    const Result r = succeeded(program(Arguments{"train", text, "--byte-fallback", "always", "--out", out} + kSmall));
    CHECK_THAT(r.err, contains("vocabulary 285 "));
    const std::string other = folder.write("other.txt", "THE \xE6\xBC\xA2 fox\n");
    const Result ids = succeeded(program({"tokenize", "encode", "--tokenizer", out, "-f", other}));
    CHECK(ids.err.empty());
    CHECK(program({"tokenize", "decode", "--tokenizer", out, "-f", folder.write("ids", ids.out)}).out ==
          "THE \xE6\xBC\xA2 fox\n");
    const auto eval = json_lines(program({"eval", "--model", out, other, "--strict-vocabulary", "--json"})).at(0);
    CHECK((eval["replaced"] == 0 && eval["tokens"] == 11));
    succeeded(program({"generate", "--model", out, "-p", "\xE6\xBC\xA2", "-n", "30", "--temp", "5"}));
    succeeded(program({"export", "--model", out, "--out", folder.path("a.gguf")}));
    check_fails(
        program(Arguments{"train", text, "--byte-fallback", "always", "--tokenizer", "bpe", "--out", folder.path("b")}),
        2, "--byte-fallback always is for --tokenizer char, got bpe");
}
