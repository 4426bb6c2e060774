// inkling tokenize, and training with --tokenizer bpe.
#include "tests/cli/program.h"

namespace {

const std::string kText = "the caf\xC3\xA9 opens, it's 8 o'clock \xF0\x9F\x98\x80\r\n\tthe end";

struct TokenizerFolder : TrainFolder {
    std::string tokenizer = path("tokenizer.json");

    Arguments learn(const std::string& size = "300") const {
        return words("tokenize train --data", text, "--vocab-size", size, "--out", tokenizer);
    }
    template <class... Pieces>
    std::string encode(const Pieces&... more) const {
        return execute("tokenize encode --tokenizer", tokenizer, more...).out;
    }
    template <class... Pieces>
    std::string decode(const Pieces&... more) const {
        return execute("tokenize decode --tokenizer", tokenizer, more...).out;
    }
};

}  // namespace

TEST_CASE("tokenize: learns, encodes and decodes", "[cli][bpe]") {
    const TokenizerFolder folder;
    CHECK_ALL(execute(folder.learn()).out.empty(), json_in(folder.tokenizer)["model"]["type"] == "BPE");
    const std::string text = folder.write("in.txt", kText);
    const Result ids = execute("tokenize encode --tokenizer", folder.tokenizer, "-f", text);
    CHECK_ALL(ids.err.empty(), ids.out.find_first_not_of("0123456789 \n") == std::string::npos);
    CHECK(ids.out.ends_with('\n'));
    const std::string written = folder.write("ids.txt", ids.out);
    CHECK(folder.decode("-f", written) == kText);
    CHECK(program(words("tokenize encode --tokenizer", folder.tokenizer, "-f -"), "", text).out == ids.out);
    CHECK(program(words("tokenize decode --tokenizer", folder.path(), "-f -"), "", written).out == kText);
    CHECK(folder.encode("-f -") == "\n");
    // bytes that are not text survive, too
    const std::string bytes("\xFF\x00 a\xC3", 5), raw = folder.encode("-f", folder.write("raw", bytes));
    CHECK(folder.decode("-f", folder.write("raw ids", raw)) == bytes);
}

TEST_CASE("tokenize: the patterns of known families, marks around a text, and special tokens as text", "[cli][bpe]") {
    const TokenizerFolder folder;
    const std::string digits = folder.write("in.txt", "12345<|endoftext|>");
    const auto encoded = [&](const auto&... more) { return folder.encode("-f", digits, more...); };
    execute(folder.learn(), "--pre-tokenizer llama3");
    json file = json_in(folder.tokenizer);
    check_has(file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"].get<std::string>(), "{1,3}");
    const std::string plain = encoded();
    CHECK_ALL(plain.ends_with(" 0\n"), !encoded("--plain").ends_with(" 0\n"));
    CHECK(encoded("--marks") == plain);  // it has none
    file["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single", {{{"SpecialToken", {{"id", "<|endoftext|>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}}}}}},
        {"special_tokens",
         {{"<|endoftext|>", {{"id", "<|endoftext|>"}, {"ids", {0}}, {"tokens", {"<|endoftext|>"}}}}}}};
    folder.write("tokenizer.json", file.dump());
    CHECK_ALL(encoded() == plain, encoded("--marks") == "0 " + plain);
    check_fails(call(folder.learn() + "--pre-tokenizer llama4"), 2, "llama4");
}

TEST_CASE("tokenize: wrong usage, bad input, and nothing left to merge", "[cli][bpe]") {
    const TokenizerFolder folder;
    check_fails(call("tokenize"), 2), check_fails(call("tokenize count"), 2, "count");
    check_fails(call("tokenize encode"), 2, "--tokenizer");
    check_fails(call("tokenize train --data x --out y"), 2, "--vocab-size");
    for (const char* size : {"0", "256", "-1", "many", "1e3"}) check_fails(call(folder.learn(size)), 2, "--vocab-size");
    CHECK_FALSE(fs::exists(folder.tokenizer));
    const std::string latin1 = folder.write("l1.txt", "caf\xE9");
    check_fails(call("tokenize train --vocab-size 300 --out x --data", latin1), 3, "UTF-8");
    check_fails(call("tokenize encode --tokenizer", folder.path("none.json"), "-f -"), 3, "none.json");
    check_fails(call("tokenize encode --tokenizer", folder.path(), "-f -"), 3, folder.path());
    check_has(execute(folder.learn("100000")).err, "smaller than 100000");
    const Arguments encode = words("tokenize encode --tokenizer", folder.tokenizer),
                    decode = words("tokenize decode --tokenizer", folder.tokenizer);
    check_fails(call(encode + "-f" + folder.path("none.txt")), 3, "none.txt");
    // stdin is read only if it is named
    for (const Arguments& command : {encode, decode})
        check_fails(program(command, "", latin1), 2, "is required: give -f FILE, or -f - for standard input");
    check_fails(call(decode + "-f" + folder.write("ids", "1 100000")), 3,
                "ids: token ids must be in [0, 289), got 100000 at byte 2");
    check_fails(program(decode + "-f -", "", folder.write("ids", "1 x")), 3,
                "standard input: ids must be whole numbers separated by spaces, got 'x' at byte 2");
    for (const char* ids : {"1 x", "-1", "1.5", "99999999999999999999", "1,2", "100000", "1 \x01\n"})
        check_fails(call(decode + "-f" + folder.write("ids", ids)), 3);
}

TEST_CASE("train: a tokenizer that is learned from the text", "[cli][bpe]") {
    const TokenizerFolder folder;
    const std::string text = repeated(small_text(), 30 * small_text().size()), out = folder.out;
    folder.write("text.txt", text);
    const Arguments two = words("--data", folder.text, "--data", folder.write("more.txt", text)),
                    train = words("train --out", out, two, kSmall);
    execute(train, "--tokenizer bpe --vocab-size 270");
    check_holds(json_of("info --model", out), "tokenizer", "bpe", "vocab_size", 270);
    // the model folder says what ends a text
    const std::string best = out + "/best/";
    CHECK(json_in(best + "tokenizer_config.json")["eos_token"] == "<|endoftext|>");
    CHECK(json_in(best + "config.json")["eos_token_id"] == 0);
    CHECK(json_in(best + "generation_config.json")["eos_token_id"] == 0);
    // the same tokenizer as from `tokenize train`
    execute("tokenize train", two, "--vocab-size 270 --out", folder.tokenizer);
    CHECK(read_file(folder.tokenizer) == read_file(best + "tokenizer.json"));
    CHECK(program("tokenize encode --tokenizer", out, "-f", folder.text).out == folder.encode("-f", folder.text));
    // generated text has whole characters, also as JSON
    for (const char* seed : {"1", "2"}) {
        const Arguments generate = words("generate --model", out, "-p the -n 40 --temp 5 --seed", seed);
        const auto line = json_of(generate);
        CHECK_ALL(execute(generate, "--no-prompt").out == line["text"].get<std::string>() + "\n", line["tokens"] == 40);
    }
    // resumed with its own tokenizer
    execute(folder.resume("--max-iters 25"));
    // eval counts the bytes of the text
    const json eval = json_of("eval --model", out, "--data", folder.text);
    const double nats = eval["loss"].get<double>() * eval["tokens"].get<double>();
    CHECK(eval["bits_per_byte"].get<double>() ==
          Approx(nats / std::log(2.0) / static_cast<double>(text.size())).epsilon(1e-3));
    check_fails(call(train + "--tokenizer bpe --vocab-size 100"), 2, "--vocab-size");
    check_fails(call(train + "--tokenizer char --vocab-size 300"), 2, "--vocab-size");
}
