// The program's memory for texts of 64 MB: one piece, many words, and characters.
#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

constexpr std::size_t kMegabytes = 64;
constexpr std::size_t kProgram_mb = 60;  // the program itself, and what it reads ahead

std::string one_letter() { return std::string(kMegabytes << 20, 'a'); }

std::string many_words() { return repeated(small_text(), kMegabytes << 20); }

// A tokenizer trained on small_text, or with Llama 3's pattern.
std::string tokenizer(const ScratchFolder& folder, bool split) {
    const std::string path = folder.path("tokenizer.json");
    execute("tokenize train --data", folder.write("small.txt", small_text()), "--vocab-size 300 --out", path);
    if (!split) return path;
    auto j = json_in(path);
    const char* const pattern =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    j["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}},
          {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    return folder.write("split.json", j.dump());
}

}  // namespace

TEST_CASE("memory: encoding takes twice the text and the ids at most", "[cli][slow]") {
    for (const bool split : {false, true}) {
        for (const bool letters : {false, true}) {
            const ScratchFolder folder;
            const std::string text = folder.write("text.txt", letters ? one_letter() : many_words());
            const Result r = succeeded(program(
                words("tokenize encode --tokenizer", tokenizer(folder, split), "-f", text), folder.path("ids")));
            const std::string ids = read_file(folder.path("ids"));
            const std::size_t count = 1 + static_cast<std::size_t>(std::count(ids.begin(), ids.end(), ' '));
            INFO("split " << split << ", one letter " << letters << ", ids " << count);
            CHECK(r.peak_mb < 2 * kMegabytes + (4 * count >> 20) + kProgram_mb);
        }
    }
}

TEST_CASE("memory: a long prompt takes twice its text at most, and counts whole", "[cli][slow]") {
    const ScratchFolder folder;
    std::string text = many_words();
    const Arguments generate =
        words("generate --model", small_run(), "-n 20 --temperature 0 --repeat-penalty 1.5 --json");
    const Result r = program(generate + words("-f", folder.write("text.txt", text)));
    const auto line = json_lines(r).at(0);
    CHECK(line["prompt_tokens"] == text.size());
    CHECK(r.peak_mb < 2 * kMegabytes + kProgram_mb);
    // the model sees only the end, but the penalty counts all tokens
    text = text.substr(text.size() - 5000);
    CHECK(json_lines(program(generate + words("-f", folder.write("end.txt", text)))).at(0)["text"] == line["text"]);
}

TEST_CASE("memory: learning byte pairs from one letter makes no token of the whole text", "[cli][slow]") {
    const ScratchFolder folder;
    const Result r = execute("tokenize train --data", folder.write("text.txt", one_letter()), "--vocab-size 1000 --out",
                             folder.path("tokenizer.json"));
    CHECK(r.peak_mb < 8 * kMegabytes);
    CHECK(fs::file_size(folder.path("tokenizer.json")) < 1'000'000);
}
