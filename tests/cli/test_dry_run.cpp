// train --dry-run against the memory and time of real runs.
#include <cmath>
#include <sstream>

#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

// The first quantity of bytes in a row of the plan: "memory       about 1.23 GB: ...".
double bytes_in(const std::string& plan, const std::string& row) {
    std::istringstream in(plan.substr(plan.find("\n" + row) + 1 + row.size()));
    double x = 0;
    std::string word;
    while (in >> word)
        if (std::isdigit(static_cast<unsigned char>(word[0]))) break;
    std::istringstream(word) >> x;
    in >> word;
    for (const char prefix : std::string("kMGTPE")) {
        x *= 1000;
        if (word[0] == prefix) return x;
    }
    return x / 1e18;
}

double size_of(const fs::path& folder) {
    double bytes = 0;
    for (const auto& file : fs::directory_iterator(folder)) bytes += static_cast<double>(file.file_size());
    return bytes;
}

}  // namespace

TEST_CASE("plan: --dry-run tells the memory and the disk that a run takes", "[cli][slow]") {
    const ScratchFolder folder;
    std::string letters;
    while (letters.size() < 8'000) letters += small_text();
    const std::string text = folder.write("text.txt", letters);
    const Arguments common{"--recipe",     "nanogpt-cpu", "--n-head",       "4", "--max-iters", "2",
                           "--eval-every", "1",           "--warmup-iters", "1", "--threads",   "1"};
    const auto sizes = [](const char* layers, const char* width, const char* context, const char* batch) {
        return Arguments{"--n-layer", layers, "--n-embd", width, "--block-size", context, "--batch-size", batch};
    };
    for (const Arguments& flags :
         {sizes("3", "384", "64", "4") + Arguments{"--arch", "nanochat", "--optimizer", "muon", "--ema", "0.9"},
          sizes("8", "256", "128", "8") + Arguments{"--checkpoint-activations"},
          sizes("4", "256", "256", "8") + Arguments{"--dropout", "0.2", "--val-fraction", "0"},
          Arguments{"--recipe", "fast", "--n-layer", "6", "--n-embd", "384", "--max-iters", "3", "--batch-size", "2",
                    "--block-size", "64"}}) {
        const ScratchFolder place;
        const bool fast = flags[1] == "fast";
        const Arguments train = Arguments{"train", "--data", text, "--out", place.path("out")} +
                                (fast ? Arguments{"--threads", "1"} : common) + flags;
        const Result plan = program(train + Arguments{"--dry-run"}), run = program(train);
        INFO(plan.out << plan.err << run.err << run.peak_mb << " MB of memory, " << [&] {
            std::string all;
            for (const std::string& flag : flags) all += flag + " ";
            return all;
        }());
        REQUIRE((plan.code == 0 && run.code == 0));
        // Where the system allocates pages of 4 kB on first use, the plan includes spare room in buffers that is never
        // used.
        const double planned = bytes_in(plan.out, "memory"), taken = static_cast<double>(run.peak_mb) * 1024 * 1024;
        CHECK(planned > 0.85 * taken);
        CHECK(planned < 1.3 * taken);
        CHECK(bytes_in(plan.out, "disk") == Approx(size_of(place.path("out/latest"))).epsilon(0.03));
    }
}

TEST_CASE("plan: --dry-run and the run count the same characters and tokens of several files", "[cli]") {
    const ScratchFolder folder;
    const std::string first = folder.write("a.txt", "aba ab"), second = folder.write("b.txt", "ba bab");  // no line end
    const Arguments train = Arguments{"train",       "--data", first,   "--data",           second,
                                      "--tokenizer", "char",   "--out", folder.path("out"), "--json"} +
                            small({"--block-size", "4", "--val-fraction", "0", "--max-iters", "1"});
    const auto planned = json_lines(call(train + Arguments{"--dry-run"})).at(0), run = json_lines(program(train)).at(0);
    for (const char* key : {"vocab_size", "tokens", "parameters"}) CHECK(planned[key] == run[key]);
    CHECK(planned["vocab_size"] == 4);
}

TEST_CASE("plan: --dry-run opens the tokenizer as the run does, with the marks of conversations", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text()), tokenizer = folder.path("tokenizer.json");
    succeeded(program({"tokenize", "train", "--data", text, "--vocab-size", "270", "--out", tokenizer}));
    const Arguments train = Arguments{"train", "--out", folder.path("out"), "--json"} +
                            small({"--tokenizer", tokenizer, "--chat-template", "chatml", "--max-iters", "1"});
    const Arguments on_text = train + Arguments{"--data", text};
    const auto planned = json_lines(call(on_text + Arguments{"--dry-run"})).at(0),
               run = json_lines(program(on_text)).at(0);
    for (const char* key : {"vocab_size", "tokens", "parameters"}) CHECK(planned[key] == run[key]);
    CHECK(planned["vocab_size"] == 272);
    const std::string chat = folder.write(
        "chat.jsonl", R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})");
    const Arguments by_char = {"train", "--data", chat, "--tokenizer", "char", "--out", folder.path("none")};
    check_fails(call(by_char + Arguments{"--dry-run"}), 3, "a character tokenizer has no tokens for the marks");
}

TEST_CASE("plan: a run that cannot fit is refused at once, with the figure that --dry-run gives", "[cli]") {
    const NewRun fresh;
    const Arguments train =
        fresh.train + Arguments{"--config", fresh.folder.write("big.toml", "n_layer = 1000000000\n"), "--threads", "1"};
    const Result plan = succeeded(program(train + Arguments{"--dry-run"})), run = program(train);
    const std::string row = plan.out.substr(plan.out.find("\nmemory")), figure = row.substr(row.find("about "));
    check_fails(run, 1, "out of memory: this run needs " + figure.substr(0, figure.find(':')) + ", and ");
    CHECK_FALSE(fs::exists(fresh.out));
    check_fails(call({"bench", "--preset", "tiny", "--batch", "100000000"}), 1, "out of memory: ");
}
