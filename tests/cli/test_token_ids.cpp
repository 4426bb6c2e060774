// Models whose alphabet is not text: trained on token ids, evaluated, continued, resumed and exported without a
// tokenizer.
#include "data/dataset.h"
#include "data/tokenizers/id_tokenizer.h"
#include "tests/cli/program.h"

// 0 1 ... 9 again and again.
template <class Id>
static std::string counting_ids(std::size_t n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) {
        const Id id = static_cast<Id>(i % 10);
        bytes.append(reinterpret_cast<const char*>(&id), sizeof id);
    }
    return bytes;
}

// As numpy.save writes it.
static std::string npy(const std::string& type, std::size_t n, const std::string& bytes,
                       const std::string& shape = "") {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                         (shape.empty() ? std::to_string(n) + "," : shape) + "), }";
    header.resize(117, ' ');
    return "\x93NUMPY\x01" + std::string("\0\x76\0", 3) + header + "\n" + bytes;
}

static std::vector<std::int32_t> read_ids(const std::string& path, std::size_t vocab_size) {
    return data::make_dataset(data::read_corpus({path}), data::IdTokenizer(vocab_size)).ids.copy();
}

TEST_CASE("token ids: .npy of any integers and .bin hold the same, and a text is their numbers", "[data]") {
    const ScratchFolder folder;
    const std::vector<std::pair<std::string, std::string>> files = {
        {"<u2", counting_ids<std::uint16_t>(25)}, {"<i4", counting_ids<std::int32_t>(25)},
        {"<i8", counting_ids<std::int64_t>(25)},  {"|u1", counting_ids<std::uint8_t>(25)},
        {"<u4", counting_ids<std::uint32_t>(25)}, {"<u8", counting_ids<std::uint64_t>(25)}};
    const std::vector<std::int32_t> ids = read_ids(folder.write("a.bin", counting_ids<std::uint16_t>(25)), 10);
    CHECK_ALL(ids.size() == 25, ids[13] == 3);
    CHECK(read_ids(folder.write("b.bin", counting_ids<std::uint32_t>(25)), 100'000) == ids);
    for (const auto& [type, bytes] : files)
        WITH_INFO(type, CHECK(read_ids(folder.write("a.npy", npy(type, 25, bytes)), 10) == ids));
    const auto refused = [&](const std::string& name, const std::string& content, const std::string& why) {
        INFO(name << ": " << why);
        CHECK_THROWS_WITH(read_ids(folder.write(name, content), 10), contains(name, why));
    };
    refused("a.bin", "", "0 bytes"), refused("a.bin", "abc", "3 bytes");
    refused("a.bin", counting_ids<std::uint32_t>(25), "look like uint32");
    refused("a.bin", std::string("\x03\0\x0a\0", 4), "id 10 at position 1 is outside the vocabulary of 10");
    refused("a.npy", npy("<i4", 1, "\xff\xff\xff\xff"), "id -1 at position 0");
    refused("a.npy", "text", "is no .npy file");
    refused("a.npy", npy("<f4", 25, counting_ids<std::uint32_t>(25)), "'<f4'");
    refused("a.npy", npy(">i4", 25, counting_ids<std::uint32_t>(25)), "little endian integers");
    refused("a.npy", npy("<i4", 25, counting_ids<std::uint32_t>(25), "5, 5"), "one axis");
    refused("a.npy", npy("<i4", 25, counting_ids<std::uint32_t>(24)), "is cut");
    const std::string text = folder.write("a.txt", "text");
    CHECK_THROWS_WITH(data::read_corpus({folder.write("a.bin", "abcd"), text}), contains("others text"));
    const data::IdTokenizer tokenizer(300);
    CHECK(tokenizer.encode(" 12 7\n299 ") == std::vector<std::int32_t>{12, 7, 299});
    const std::vector<std::int32_t> two = {12, 7};
    CHECK_ALL(tokenizer.decode(two) == "12 7", tokenizer.decode_more(two) == " 12 7", !tokenizer.knows("\n"));
    for (const char* const bad : {"300", "-1", "a", "1.5"})
        CHECK_THROWS_WITH(tokenizer.encode(bad), contains("'" + std::string(bad) + "'", "ids from 0 to 299"));
    CHECK_THROWS_AS(tokenizer.decode(std::vector<std::int32_t>{300}), BadInput);
}

TEST_CASE("train: token ids, without a tokenizer, from the first step to llama.cpp's file", "[cli]") {
    const TrainFolder folder;
    const std::string ids = folder.write("ids.bin", counting_ids<std::uint16_t>(2000));
    const auto train = [&](const std::string& out, auto&&... more) {
        return execute("train --data", ids, "--vocab-size 12 --out", folder.path(out), small("--max-iters 60"),
                       more...);
    };
    check_has(train("run").err, "vocabulary 12");
    const std::string run = folder.path("run");
    CHECK_ALL(!fs::exists(run + "/best/tokenizer.json"), json_in(run + "/best/config.json")["vocab_size"] == 12);
    const ordered_json told = json_of("eval --data", ids, "--model", run);
    CHECK_ALL(told["tokens"] == 1999, told["loss"].get<double>() < std::log(10), told["bits_per_byte"].is_null());

    const std::string npy_file = folder.write("ids.npy", npy("<i8", 2000, counting_ids<std::int64_t>(2000)));
    CHECK(json_of("eval --data", npy_file, "--model", run)["loss"] == told["loss"]);
    const std::string text = folder.write("ids.txt", "0 1 2 3 4 5 6 7 8 9 0 1 2 3");
    CHECK(json_of("eval --data", text, "--model", run)["tokens"] == 13);

    const Arguments generate = words("generate --temperature 0 -n 3 --prompt '4 5 6' --model");
    const std::string written = execute(generate + run).out;
    CHECK(written.starts_with("4 5 6 "));
    check_fails(program(words("generate --prompt 'the fox' --model", run)), 3, "which has no tokenizer: write ids");
    const std::string gguf = folder.path("m.gguf");
    execute("export --type f32 --model", run, "--out", gguf);
    CHECK(execute(generate + gguf).out == written);
    execute("export --format hf --model", run, "--out", folder.path("hf"));
    CHECK(execute(generate + folder.path("hf")).out == written);

    execute("train --data", ids, "--vocab-size 12 --out", folder.path("half"), small("--max-iters 30"));
    execute("train --data", ids, "--resume auto --out", folder.path("half"), "--max-iters 60 --threads 1");
    CHECK(names_in(folder.path("half/latest/")) == names_in(run + "/latest/"));
}

TEST_CASE("train: token ids need the size of their vocabulary, or their tokenizer", "[cli]") {
    const TrainFolder folder;
    const std::string ids = folder.write("ids.bin", counting_ids<std::uint16_t>(200));
    const auto fails = [&](const Arguments& flags, int code, const std::string& text) {
        check_fails(call(words("train --data", ids, "--out", folder.out, flags)), code, text);
    };
    fails({}, 2, "ids.bin holds token ids: give the size of their vocabulary with --vocab-size");
    fails(words("--tokenizer char"), 3, "--tokenizer char is for text, and");
    fails(words("--vocab-size 5"), 3, "id 5 at position 5 is outside the vocabulary of 5");
    // with a tokenizer, the model speaks
    execute("train --data", ids, "--tokenizer", small_run(), "--out", folder.out, kSmall);
    CHECK(fs::exists(folder.out + "/best/tokenizer.json"));
    CHECK(json_of("eval --data", ids, "--model", folder.out)["bits_per_byte"].get<double>() > 0);
}
