// train --init-from: the choices of the recipe finetune, and that the model never gets worse.
#include "tests/cli/program.h"
#include "tests/models/chat_folder.h"

using namespace inkling::testing;

namespace {

std::string foxes(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; text.size() < bytes; ++i)
        text += i % 3 == 0 ? "the lazy dog jumps over the quick fox.\n" : "a brown fox is over the dog.\n";
    return text.substr(0, bytes);
}

double loss_on(const std::string& model, const std::string& text) {
    return json_lines(program({"eval", "--model", model, "--data", text, "--json"}))[0]["loss"].get<double>();
}

// The lines of train --json: the plan first, the end last.
std::vector<ordered_json> tuned(const Arguments& flags) {
    const auto lines = json_lines(
        program(Arguments{"train", "--init-from", small_run(), "--threads", "1", "--json", "--overwrite"} + flags));
    CHECK((lines.front()["event"] == "plan" && lines.back()["event"] == "end"));
    return lines;
}

}  // namespace

TEST_CASE("finetune: the dropout that a recipe chooses is the model's, and a resumed run has the same bits", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", foxes(1200)), a = folder.path("a"), b = folder.path("b");
    succeeded(program({"train", "--recipe", "fast", "--init-from", small_run(), "--data", text, "--out", a,
                       "--max-iters", "20", "--save-every", "10", "--eval-every", "0", "--threads", "1"}));
    CHECK_THAT(read_file(a + "/config.toml"), contains("\ndropout = 0.2\n"));
    CHECK(ordered_json::parse(read_file(a + "/latest/config.json"))["resid_pdrop"] == 0.2);
    fs::copy(a, b, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::remove_all(b + "/step-000020");  // as if it had been killed behind step 10
    const Result resumed = succeeded(program({"train", "--out", b, "--resume", "auto"}));
    CHECK_THAT(resumed.err, contains("step 10"));
    CHECK(read_file(b + "/step-000020/model.safetensors") == read_file(a + "/step-000020/model.safetensors"));
}

TEST_CASE("finetune: is the recipe for a model that exists, and the first evaluation is before training", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", foxes(3000)),
                      held = folder.write("held.txt", foxes(5000).substr(3000)), out = folder.path("out");
    for (const Arguments& kind : {Arguments{}, Arguments{"--lora-rank", "2"}}) {
        const auto lines = tuned(Arguments{"--data", text, "--out", out, "--max-iters", "300"} + kind);
        const auto& settings = lines.front()["settings"];
        CHECK((settings["eval_on_start"] == true && settings["optimizer"] == (kind.empty() ? "muon" : "adamw")));
        REQUIRE(lines[1]["event"] == "evaluation");
        CHECK((lines[1]["step"] == 0 && lines[1]["best"] == true));
        CHECK(lines.back()["best_val_loss"] < lines[1]["val_loss"]);
        CHECK(loss_on(out, held) < loss_on(small_run(), held));
        const auto card = ordered_json::parse(read_file(out + "/run.json"));
        CHECK(card["val_loss_before"] == lines[1]["val_loss"]);
        const auto written = json_lines(read_file(out + "/metrics.jsonl"));
        CHECK((written[0]["step"] == 0 && written[0]["val_loss"] == lines[1]["val_loss"] && written[1]["step"] == 1));
    }
    // given settings stay
    const auto given = tuned({"--data", text, "--out", out, "--max-iters", "4", "--learning-rate", "0.01",
                              "--batch-size", "3", "--block-size", "5", "--no-eval-on-start"});
    const auto& settings = given.front()["settings"];
    CHECK((settings["learning_rate"] == 0.01 && settings["batch_size"] == 3 && settings["block_size"] == 5));
    CHECK((settings["max_iters"] == 4 && given[1]["step"] != 0));
    // with another recipe, and without
    const auto other = tuned({"--data", text, "--out", out, "--max-iters", "4", "--recipe", "nanogpt-cpu"});
    CHECK((other.front()["settings"]["schedule"] == "cosine" && other.front()["settings"]["eval_on_start"] == false));
    check_fails(call({"train", "--data", text, "--out", folder.path("x"), "--recipe", "finetune"}), 2,
                "--recipe finetune is for a model that exists: name it with --init-from MODEL");
}

TEST_CASE("finetune: a model that no step makes better stays as it was", "[cli]") {
    const NewRun fresh;
    for (const Arguments& kind : {Arguments{}, Arguments{"--lora-rank", "2"}}) {
        const Result r = succeeded(program(Arguments{"train", "--init-from", small_run(), "--data", fresh.text, "--out",
                                                     fresh.out, "--overwrite", "--learning-rate", "10", "--max-iters",
                                                     "40", "--threads", "1", "--eval-every", "5", "--patience", "3"} +
                                           kind));
        CHECK_THAT(r.err, contains("before training: validation ",
                                   "the validation loss had not improved for a while: 15 steps",
                                   ", before the first step: none made it better"));
        CHECK(fs::read_symlink(fresh.out + "/best") == "step-000000");
        CHECK(loss_on(fresh.out, fresh.text) == loss_on(small_run(), fresh.text));
        // the run has ended, and stays ended
        const Result again = succeeded(program({"train", "--out", fresh.out, "--resume", "auto"}));
        CHECK_THAT(again.err, contains("has not improved since step 0"));
        CHECK(fs::read_symlink(fresh.out + "/best") == "step-000000");
    }
}

TEST_CASE("finetune: short texts, and those without a validation part, end well", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("out");
    for (const std::size_t bytes : {60, 300, 2000}) {
        const std::string text = folder.write("text.txt", foxes(bytes));
        for (const Arguments& more : {Arguments{}, Arguments{"--val-fraction", "0"}, Arguments{"--lora-rank", "2"}}) {
            const auto lines = tuned(Arguments{"--data", text, "--out", out, "--max-time", "1"} + more);
            INFO(bytes << ' ' << lines.back());
            CHECK(lines.back()["step"] >= 1);
            CHECK(fs::exists(out + "/latest"));
            CHECK(fs::exists(out + "/best") == (more != Arguments{"--val-fraction", "0"}));
        }
    }
}

TEST_CASE("finetune: rows may be shorter than the model's context, which stays", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", foxes(2000)), out = folder.path("out");
    const Arguments flags{"train", "--init-from", small_run(), "--data", text, "--out", out, "--threads", "1"};
    const Result r = program(flags + Arguments{"--block-size", "6", "--max-iters", "8", "--save-every", "4", "--json"});
    const auto lines = json_lines(r);
    CHECK(lines.front()["tokens_per_step"] == lines.front()["settings"]["batch_size"].get<int>() * 6);
    CHECK(ordered_json::parse(read_file(out + "/latest/config.json"))["n_positions"] == 8);
    const std::string weights = read_file(out + "/step-000008/model.safetensors");
    fs::remove_all(out + "/step-000008");
    succeeded(program({"train", "--out", out, "--resume", "auto"}));
    CHECK(read_file(out + "/step-000008/model.safetensors") == weights);
    check_fails(call(flags + Arguments{"--overwrite", "--block-size", "9"}), 2,
                "--block-size must be at most 8, the context of the model that is loaded, got 9");
    check_fails(call({"train", "--out", out, "--resume", "auto", "--block-size", "8", "--max-iters", "9"}), 3,
                "--block-size was 6, is 8");
    // for documents, the recipe chooses the block size
    const ChatFolder model(kChatMl, 512);
    std::string chats;
    for (int i = 0; i < 12; ++i)
        chats += R"({"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"wet tale"}]})"
                 "\n";
    const auto planned =
        json_lines(program({"train", "--data", folder.write("chats.jsonl", chats), "--init-from", model.scratch.path(),
                            "--out", folder.path("chat"), "--max-iters", "2", "--json"}));
    CHECK(planned.front()["settings"]["block_size"] == 256);
}

TEST_CASE("eval: --answers counts those that are as in the data", "[cli]") {
    const ScratchFolder folder;
    const auto chat = [](const std::string& question, const std::string& answer) {
        return R"({"messages":[{"role":"user","content":")" + question + R"("},{"role":"assistant","content":")" +
               answer + "\"}]}\n";
    };
    std::string lines;
    for (int i = 0; i < 20; ++i) lines += chat("what animal?", "a fox") + chat("what color?", "red");
    const std::string data = folder.write("chats.jsonl", lines), out = folder.path("run");
    succeeded(program(Arguments{"train", "--data", data, "--out", out} +
                      small({"--tokenizer", "bpe", "--vocab-size", "280", "--block-size", "64", "--n-embd", "32",
                             "--max-iters", "150", "--learning-rate", "0.01", "--eval-every", "0"})));
    const std::string asked = folder.write(
        "asked.jsonl", chat("what animal?", "a fox") + chat("what color?", " red ") + chat("what color?", "blue"));
    const Arguments eval{"eval", "--model", out, "--data", asked};
    const auto found = json_lines(program(eval + Arguments{"--answers", "--json"}))[0];
    CHECK((found["answers"] == 3 && found["right"] == 2));
    CHECK_THAT(program(eval + Arguments{"--answers"}).out, contains("\nanswers        2 of 3 are right\n"));
    CHECK_FALSE(json_lines(program(eval + Arguments{"--json"}))[0].contains("answers"));
    const std::string text = folder.write("text.txt", small_text()),
                      pairs = folder.write("pairs.jsonl", "{\"prompt\": \"what\", \"completion\": \"red\"}\n");
    check_fails(call({"eval", "--model", out, "--data", text, "--answers"}), 2, "--answers is for conversations");
    check_fails(call({"eval", "--model", out, "--data", pairs, "--answers"}), 3, "--answers is for conversations");
}

TEST_CASE("train: --chat-template gives a model of text the form of conversations, for adapters to learn", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text()), base = folder.path("base"),
                      chats = folder.write("chats.jsonl",
                                           R"({"messages":[{"role":"user","content":"the fox"},{"role":"assistant",)"
                                           R"("content":"the dog"}]})"
                                           "\n");
    const Arguments flags =
        Arguments{"train", "--data", text, "--out", base, "--chat-template", "chatml"} + small({"--block-size", "48"});
    check_fails(call(flags), 3, "a character tokenizer has no tokens for the marks");
    succeeded(program(flags + Arguments{"--tokenizer", "bpe", "--vocab-size", "300"}));
    CHECK_THAT(read_file(base + "/latest/tokenizer_config.json"), contains("chat_template"));
    succeeded(program({"train", "--data", chats, "--init-from", base, "--lora-rank", "2", "--out", folder.path("lora"),
                       "--max-iters", "3", "--val-fraction", "0"}));
    succeeded(program({"train", "--out", base, "--resume", "auto", "--max-iters", "21"}));
}
