// A GGUF file in place of a model folder: each command gives the same result.
#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

const std::string kStories = tests_path("reference/greedy_gpt2");

Result good(const Arguments& arguments) {
    const Result r = succeeded(program(arguments));
    return r;
}

std::string stories_gguf(const ScratchFolder& folder, const std::string& type = "f32") {
    const std::string path = folder.path("stories.gguf");
    good({"export", "--model", kStories, "--out", path, "--type", type});
    return path;
}

}  // namespace

TEST_CASE("gguf commands: a file says what its folder says", "[cli]") {
    const ScratchFolder folder;
    const std::string file = stories_gguf(folder), text = folder.write("text.txt", "the hen is in the garden.\n");
    const auto both = [&](const char* flag, const Arguments& before, const Arguments& after = {}) {
        const auto run = [&](const std::string& model) { return good(before + Arguments{flag, model} + after).out; };
        INFO(before[0]);
        CHECK(run(file) == run(kStories));
    };
    both("--model", {"generate"}, {"-p", "the hen", "-n", "9", "--temp", "0"});
    both("--model", {"generate"}, {"-p", "the hen", "-n", "9", "--temp", "0", "--quantize", "q8_0"});
    both("--model", {"eval"}, {"--data", text});
    both("--tokenizer", {"tokenize", "encode"}, {"-f", text});
    good({"attention", "--model", file, "--prompt", "the hen", "--out", folder.path("heads.html")});
    const auto info = ordered_json::parse(good({"info", "--model", file, "--json"}).out),
               own = ordered_json::parse(good({"info", "--model", kStories, "--json"}).out);
    for (const char* const key : {"arch", "n_layer", "block_size", "vocab_size", "tokenizer", "type"})
        CHECK(info[key] == own[key]);
    CHECK(info["folder"] == file);
}

TEST_CASE("gguf commands: a file is exported as a folder, and as another file of its type", "[cli]") {
    const ScratchFolder folder;
    const std::string file = stories_gguf(folder, "q8_0"), out = folder.path("out");
    const auto text = [&](const std::string& model) {
        return good({"generate", "--model", model, "-p", "the hen", "-n", "9", "--temp", "0"}).out;
    };
    good({"export", "--model", file, "--out", out, "--format", "hf"});
    CHECK(text(out) == text(file));
    const std::string again = folder.path("again/stories.gguf"), third = folder.path("third/stories.gguf");
    for (const auto& [from, to] : {std::pair(file, again), {again, third}}) {
        fs::create_directory(fs::path(to).parent_path());
        CHECK_THAT(good({"export", "--model", from, "--out", to}).err, contains("gguf, q8_0"));
    }
    CHECK(read_file(third) == read_file(again));  // and not the first, whose name in the file is its folder's
}

TEST_CASE("gguf commands: export writes a Modelfile beside the file, and replaces no other", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("m.gguf"), beside = folder.path("Modelfile");
    const Arguments start = {"export", "--model", kStories, "--out", out, "--modelfile"};
    for (int again = 0; again < 2; ++again) {
        good(start);
        CHECK(read_file(beside) == "FROM ./m.gguf\n");
    }
    folder.write("Modelfile", "# mine");
    CHECK_THAT(program(start).err, contains("is a file of another kind: replace it with --overwrite"));
    CHECK(read_file(beside) == "# mine");
    good(start + Arguments{"--overwrite"});
    CHECK(program(start + Arguments{"--format", "hf"}).code == 2);
    const std::string adapter = tests_path("reference/adapters/llama"), lora = folder.path("lora.gguf");
    good({"export", "--model", adapter, "--out", lora, "--format", "gguf-lora", "--modelfile"});
    CHECK(read_file(beside) == "FROM " + fs::path(tests_path("reference/llama_tiny")).lexically_normal().string() +
                                   "\nADAPTER ./lora.gguf\n");
}

TEST_CASE("gguf commands: training starts from a file, whole or with adapters on it", "[cli]") {
    const ScratchFolder folder;
    const std::string file = stories_gguf(folder, "q8_0"), out = folder.path("out");
    std::string text;
    while (text.size() < 3000) text += "the hen is in the garden, and the duck is in the pond.\n";
    text = folder.write("text.txt", text);
    const Arguments start = {"train", "--init-from", file, "--data",    text, "--out",
                             out,     "--max-iters", "4",  "--threads", "1",  "--overwrite"};
    good(start);
    good({"generate", "--model", out, "-n", "3"});
    for (const std::string precision : {"q8_0", "bf16"}) {
        good(start + Arguments{"--lora-rank", "2", "--base-precision", precision});
        good({"generate", "--model", out, "-n", "3"});
        good({"verify", out});
        good({"train", "--out", out, "--resume", "auto", "--max-iters", "6"});
    }
    CHECK_THAT(good(start + Arguments{"--lora-rank", "2", "--dry-run"}).out, contains("the others in q8_0"));
    const Arguments wide = {"--lora-rank", "2", "--dry-run", "--init-from", stories_gguf(folder, "bf16")};
    CHECK_THAT(good(start + wide).out, contains("the others in fp32"));
    good({"train", "--data", text, "--out", out, "--max-iters", "2", "--tokenizer", file, "--overwrite"});
}

TEST_CASE("gguf commands: a file that cannot be read is bad input, in a line", "[cli]") {
    const ScratchFolder folder;
    const std::string file = stories_gguf(folder), cut = folder.path("cut.gguf");
    const std::string bytes = read_file(file);
    folder.write("cut.gguf", bytes.substr(0, bytes.size() / 2));
    for (const Arguments& arguments :
         {Arguments{"generate", "--model", cut, "-n", "1"}, Arguments{"info", "--model", cut},
          Arguments{"train", "--init-from", cut, "--out", folder.path("out")},
          Arguments{"tokenize", "encode", "--tokenizer", cut, "-f", "/dev/null"}}) {
        const Result r = ended_with(3, program(arguments));
        CHECK_THAT(r.err, contains("inkling: " + cut + ": tensor ", "the file was cut short"));
        CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    }
    CHECK(program({"generate", "--model", folder.path("none.gguf")}).code == 3);
}
