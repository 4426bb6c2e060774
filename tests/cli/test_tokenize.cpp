// inkling tokenize, and training with --tokenizer bpe.
#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

const std::string kText = "the caf\xC3\xA9 opens, it's 8 o'clock \xF0\x9F\x98\x80\r\n\tthe end";

Arguments train_tokenizer(const ScratchFolder& folder, const std::string& size = "300") {
    return {"tokenize",     "train", "--data", folder.write("text.txt", small_text()),
            "--vocab-size", size,    "--out",  folder.path("tokenizer.json")};
}

}  // namespace

TEST_CASE("tokenize: learns, encodes and decodes", "[cli][bpe]") {
    const ScratchFolder folder;
    const Result made = succeeded(program(train_tokenizer(folder)));
    CHECK(made.out.empty());
    const std::string tokenizer = folder.path("tokenizer.json");
    const json file = json::parse(read_file(tokenizer));
    CHECK(file["model"]["type"] == "BPE");
    const Result ids =
        succeeded(program({"tokenize", "encode", "--tokenizer", tokenizer, "-f", folder.write("in.txt", kText)}));
    CHECK(ids.err.empty());
    CHECK(ids.out.find_first_not_of("0123456789 \n") == std::string::npos);
    CHECK(ids.out.ends_with('\n'));
    const std::string written = folder.write("ids.txt", ids.out);
    CHECK(program({"tokenize", "decode", "--tokenizer", tokenizer, "-f", written}).out == kText);
    CHECK(program({"tokenize", "encode", "--tokenizer", tokenizer, "-f", "-"}, "", folder.path("in.txt")).out ==
          ids.out);
    CHECK(program({"tokenize", "decode", "--tokenizer", folder.path(), "-f", "-"}, "", written).out == kText);
    CHECK(program({"tokenize", "encode", "--tokenizer", tokenizer, "-f", "-"}).out == "\n");
    // bytes that are not text survive, too
    const std::string bytes("\xFF\x00 a\xC3", 5);
    const Result raw = program({"tokenize", "encode", "--tokenizer", tokenizer, "-f", folder.write("raw", bytes)});
    CHECK(program({"tokenize", "decode", "--tokenizer", tokenizer, "-f", folder.write("raw ids", raw.out)}).out ==
          bytes);
    const Result all = succeeded(program(train_tokenizer(folder, "100000")));
    CHECK_THAT(all.err, contains("smaller than 100000"));  // the message when nothing is left to merge
}

TEST_CASE("tokenize: the patterns of known families, marks around a text, and special tokens as text", "[cli][bpe]") {
    const ScratchFolder folder;
    const std::string digits = folder.write("in.txt", "12345<|endoftext|>");
    const auto encoded = [&](const Arguments& more) {
        const Result r = succeeded(program(
            Arguments{"tokenize", "encode", "--tokenizer", folder.path("tokenizer.json"), "-f", digits} + more));
        return r.out;
    };
    succeeded(program(train_tokenizer(folder) + Arguments{"--pre-tokenizer", "llama3"}));
    json file = json::parse(read_file(folder.path("tokenizer.json")));
    const std::string pattern = file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"];
    CHECK(pattern.find("{1,3}") != std::string::npos);
    CHECK(encoded({}).ends_with(" 0\n"));
    CHECK_FALSE(encoded({"--plain"}).ends_with(" 0\n"));
    CHECK(encoded({"--marks"}) == encoded({}));  // it has none
    file["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single", {{{"SpecialToken", {{"id", "<|endoftext|>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}}}}}},
        {"special_tokens",
         {{"<|endoftext|>", {{"id", "<|endoftext|>"}, {"ids", {0}}, {"tokens", {"<|endoftext|>"}}}}}}};
    const std::string plain = encoded({});
    folder.write("tokenizer.json", file.dump());
    CHECK(encoded({}) == plain);
    CHECK(encoded({"--marks"}) == "0 " + plain);
    check_fails(call(train_tokenizer(folder) + Arguments{"--pre-tokenizer", "llama4"}), 2, "llama4");
}

TEST_CASE("tokenize: wrong usage and bad input", "[cli][bpe]") {
    const ScratchFolder folder;
    check_fails(call({"tokenize"}), 2);
    check_fails(call({"tokenize", "count"}), 2, "count");
    check_fails(call({"tokenize", "encode"}), 2, "--tokenizer");
    check_fails(call({"tokenize", "train", "--data", "x", "--out", "y"}), 2, "--vocab-size");
    for (const char* size : {"0", "256", "-1", "many", "1e3"})
        check_fails(call(train_tokenizer(folder, size)), 2, "--vocab-size");
    CHECK_FALSE(fs::exists(folder.path("tokenizer.json")));
    check_fails(call({"tokenize", "train", "--data", folder.write("l1.txt", "caf\xE9"), "--vocab-size", "300", "--out",
                      folder.path("t.json")}),
                3, "UTF-8");
    check_fails(call({"tokenize", "encode", "--tokenizer", folder.path("none.json"), "-f", "-"}), 3, "none.json");
    check_fails(call({"tokenize", "encode", "--tokenizer", folder.path(), "-f", "-"}), 3, folder.path());
    succeeded(program(train_tokenizer(folder)));
    const std::string tokenizer = folder.path("tokenizer.json");
    check_fails(call({"tokenize", "encode", "--tokenizer", tokenizer, "-f", folder.path("none.txt")}), 3, "none.txt");
    // stdin is read only if it is named
    for (const char* command : {"encode", "decode"})
        check_fails(program({"tokenize", command, "--tokenizer", tokenizer}, "", folder.path("l1.txt")), 2,
                    "is required: give -f FILE, or -f - for standard input");
    check_fails(call({"tokenize", "decode", "--tokenizer", tokenizer, "-f", folder.write("ids", "1 100000")}), 3,
                "ids: token ids must be in [0, 289), got 100000 at byte 2");
    check_fails(program({"tokenize", "decode", "--tokenizer", tokenizer, "-f", "-"}, "", folder.write("ids", "1 x")), 3,
                "standard input: ids must be whole numbers separated by spaces, got 'x' at byte 2");
    for (const char* ids : {"1 x", "-1", "1.5", "99999999999999999999", "1,2", "100000", "1 \x01\n"})
        check_fails(call({"tokenize", "decode", "--tokenizer", tokenizer, "-f", folder.write("ids", ids)}), 3);
}

TEST_CASE("train: a tokenizer that is learned from the text", "[cli][bpe]") {
    const ScratchFolder folder;
    std::string text;
    for (int i = 0; i < 30; ++i) text += small_text();
    const std::string file = folder.write("text.txt", text), out = folder.path("out");
    const Arguments train = Arguments{"train", "--data", file, "--data", folder.write("more.txt", text), "--out", out};
    succeeded(program(train + Arguments{"--tokenizer", "bpe", "--vocab-size", "270"} + kSmall));
    const auto info = json::parse(program({"info", "--model", out, "--json"}).out);
    CHECK(info["tokenizer"] == "bpe");
    CHECK(info["vocab_size"] == 270);
    // the model folder says what ends a text
    const std::string best = out + "/best/";
    CHECK(json::parse(read_file(best + "tokenizer_config.json"))["eos_token"] == "<|endoftext|>");
    CHECK(json::parse(read_file(best + "config.json"))["eos_token_id"] == 0);
    CHECK(json::parse(read_file(best + "generation_config.json"))["eos_token_id"] == 0);
    // the same tokenizer as from `tokenize train`
    succeeded(program({"tokenize", "train", "--data", file, "--data", folder.path("more.txt"), "--vocab-size", "270",
                       "--out", folder.path("t.json")}));
    CHECK(read_file(folder.path("t.json")) == read_file(best + "tokenizer.json"));
    CHECK(program({"tokenize", "encode", "--tokenizer", out, "-f", file}).out ==
          program({"tokenize", "encode", "--tokenizer", folder.path("t.json"), "-f", file}).out);
    // generated text has whole characters, also as JSON
    for (const char* seed : {"1", "2"}) {
        const Arguments generate = {"generate", "--model", out, "-p", "the", "-n", "40", "--temp", "5", "--seed", seed};
        const Result plain = program(generate + Arguments{"--no-prompt"});
        const json line = json::parse(program(generate + Arguments{"--json"}).out);
        CHECK(plain.out == line["text"].get<std::string>() + "\n");
        CHECK(line["tokens"] == 40);
    }
    // resumed with its own tokenizer
    succeeded(program(Arguments{"train", "--out", out, "--resume", "auto", "--max-iters", "25"}));
    // eval counts the bytes of the text
    const json eval = json::parse(program({"eval", "--model", out, "--data", file, "--json"}).out);
    const double nats = eval["loss"].get<double>() * eval["tokens"].get<double>();
    CHECK(eval["bits_per_byte"].get<double>() ==
          Approx(nats / std::log(2.0) / static_cast<double>(text.size())).epsilon(1e-3));
    check_fails(call(train + Arguments{"--tokenizer", "bpe", "--vocab-size", "100"} + kSmall), 2, "--vocab-size");
    check_fails(call(train + Arguments{"--tokenizer", "char", "--vocab-size", "300"} + kSmall), 2, "--vocab-size");
}
