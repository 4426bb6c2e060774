// train --init-from: the choices of the recipe finetune, and that the model never gets worse.
#include "tests/cli/program.h"
#include "tests/models/chat_folder.h"

static std::string foxes(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; text.size() < bytes; ++i)
        text += i % 3 == 0 ? "the lazy dog jumps over the quick fox.\n" : "a brown fox is over the dog.\n";
    return text.substr(0, bytes);
}

static double loss_on(const std::string& model, const std::string& text) {
    return json_of("eval --model", model, "--data", text)["loss"].get<double>();
}

// The lines of train --json: the plan first, the end last.
template <class... Pieces>
static std::vector<ordered_json> tuned(const Pieces&... flags) {
    const auto lines =
        json_lines(program("train --init-from", small_run(), "--threads 1 --json --overwrite", flags...));
    CHECK(lines.front()["event"] == "plan");
    CHECK(lines.back()["event"] == "end");
    return lines;
}

TEST_CASE("finetune: the dropout that a recipe chooses is the model's, and a resumed run has the same bits", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", foxes(1200)), a = folder.path("a"), b = folder.path("b");
    execute("train --recipe fast --init-from", small_run(), "--data", text, "--out", a,
            "--max-iters 20 --save-every 10 --eval-every 0 --threads 1");
    check_has(read_file(a + "/config.toml"), "\ndropout = 0.2\n");
    CHECK(json_in(a + "/latest/config.json")["resid_pdrop"] == 0.2);
    copy_run(a, b);
    fs::remove_all(b + "/step-000020");  // as if it had been killed behind step 10
    check_has(execute("train --out", b, "--resume auto").err, "step 10");
    CHECK(read_file(b + "/step-000020/model.safetensors") == read_file(a + "/step-000020/model.safetensors"));
}

TEST_CASE("finetune: is the recipe for a model that exists, and the first evaluation is before training", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", foxes(3000)),
                      held = folder.write("held.txt", foxes(5000).substr(3000)), out = folder.path("out");
    for (const Arguments& kind :
         {Arguments{}, words("--lora-rank 2 --learning-rate 0.01")}) {  // the usual rate may learn nothing
        const auto lines = tuned("--data", text, "--out", out, "--max-iters 300", kind);
        const auto& settings = lines.front()["settings"];
        check_holds(settings, "eval_on_start", true, "optimizer", (kind.empty() ? "muon" : "adamw"));
        REQUIRE(lines[1]["event"] == "evaluation");
        check_holds(lines[1], "step", 0, "best", true);
        CHECK(lines.back()["best_val_loss"] < lines[1]["val_loss"]);
        CHECK(loss_on(out, held) < loss_on(small_run(), held));
        CHECK(json_in(out + "/run.json")["val_loss_before"] == lines[1]["val_loss"].get<double>());
        const auto written = lines_in(out + "/metrics.jsonl");
        check_holds(written, "/0/step", 0, "/0/val_loss", lines[1]["val_loss"], "/1/step", 1);
        CHECK(written[0].contains("sha256"));
    }
    // given settings stay
    const auto given = tuned("--data", text, "--out", out,
                             "--max-iters 4 --learning-rate 0.01 --batch-size 3 --block-size 5 --no-eval-on-start");
    check_holds(given[0]["settings"], "learning_rate", 0.01, "batch_size", 3, "block_size", 5, "max_iters", 4);
    CHECK(given[1]["step"] != 0);
    // with another recipe, and without
    const auto other = tuned("--data", text, "--out", out, "--max-iters 4 --recipe nanogpt-cpu");
    check_holds(other.front()["settings"], "schedule", "cosine", "eval_on_start", false);
    check_fails(call("train --data", text, "--out", folder.path("x"), "--recipe finetune"), 2,
                "--recipe finetune needs a model to start from: give --init-from MODEL");
}

TEST_CASE("finetune: a model that no step makes better stays as it was, and short texts end well", "[cli]") {
    const TrainFolder folder;
    for (const Arguments& kind : {Arguments{}, words("--lora-rank 2")}) {
        check_has(execute("train --init-from", small_run(), "--data", folder.text, "--out", folder.out,
                          "--overwrite --learning-rate 10 --max-iters 40 --threads 1 --eval-every 5 --patience 3", kind)
                      .err,
                  "before training: validation ", "the validation loss had not improved for a while: 15 steps",
                  ", before the first step: none made it better");
        CHECK(fs::read_symlink(folder.out + "/best") == "step-000000");
        CHECK(loss_on(folder.out, folder.text) == loss_on(small_run(), folder.text));
        // the run has ended, and stays ended
        check_has(execute(folder.resume()).err, "has not improved since step 0");
        CHECK(fs::read_symlink(folder.out + "/best") == "step-000000");
    }
    const ScratchFolder short_texts;
    const std::string short_out = short_texts.path("out");
    for (const std::size_t bytes : {60, 300, 2000}) {
        const std::string text = short_texts.write("text.txt", foxes(bytes));
        for (const Arguments& more : {Arguments{}, words("--val-fraction 0"), words("--lora-rank 2")}) {
            const auto lines = tuned("--data", text, "--out", short_out, "--max-time 1", more);
            INFO(bytes << ' ' << lines.back());
            CHECK(lines.back()["step"] >= 1);
            CHECK(fs::exists(short_out + "/latest"));
            CHECK(fs::exists(short_out + "/best") == (more != words("--val-fraction 0")));
        }
    }
}

TEST_CASE("finetune: rows may be shorter than the model's context, which stays", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", foxes(2000)), out = folder.path("out");
    const Arguments flags = words("train --init-from", small_run(), "--data", text, "--out", out, "--threads 1");
    const auto lines = json_lines(program(flags + "--block-size 6 --max-iters 8 --save-every 4 --json"));
    CHECK(lines.front()["tokens_per_step"] == lines.front()["settings"]["batch_size"].get<int>() * 6);
    CHECK(json_in(out + "/latest/config.json")["n_positions"] == 8);
    const std::string weights = weights_in(out);
    fs::remove_all(out + "/step-000008");
    execute("train --out", out, "--resume auto");
    CHECK(weights_in(out) == weights);
    check_fails(call(flags + "--overwrite --block-size 9"), 2,
                "--block-size must be at most 8, the context of the model that is loaded, got 9");
    check_fails(call("train --out", out, "--resume auto --block-size 8 --max-iters 9"), 3, "--block-size was 6, is 8");
    // for documents, the recipe chooses the block size
    const ChatFolder model(kChatMl, 512);
    const std::string chats = folder.write("chats.jsonl", repeated(chat_line("hello", "wet tale"), 1000));
    const auto planned = json_lines(program("train --max-iters 2 --json --data", chats, "--init-from",
                                            model.scratch.path(), "--out", folder.path("chat")));
    CHECK(planned.front()["settings"]["block_size"] == 256);
}

TEST_CASE("eval: --answers counts those that are as in the data", "[cli]") {
    const TrainFolder folder;
    const std::string both = chat_line("what animal?", "a fox") + chat_line("what color?", "red"),
                      data = folder.write("chats.jsonl", repeated(both, 20 * both.size()));
    execute("train --data", data, "--out", folder.out,
            small("--tokenizer bpe --vocab-size 280 --block-size 64 --n-embd 32 --max-iters 150 --learning-rate 0.01 "
                  "--eval-every 0"));
    const std::string asked =
        folder.write("asked.jsonl", chat_line("what animal?", "a fox") + chat_line("what color?", " red ") +
                                        chat_line("what color?", "blue"));
    const Arguments eval = words("eval --model", folder.out, "--data", asked);
    check_holds(json_of(eval + "--answers"), "answers", 3, "right", 2);
    check_has(program(eval + "--answers").out, "\nanswers        2 of 3 are right\n");
    CHECK_FALSE(json_of(eval).contains("answers"));
    const std::string pairs = folder.write("pairs.jsonl", "{\"prompt\": \"what\", \"completion\": \"red\"}\n");
    for (const auto& [other, code] : {std::pair{folder.text, 2}, {pairs, 3}})
        check_fails(call("eval --model", folder.out, "--data", other, "--answers"), code,
                    "--answers is for conversations");
}

TEST_CASE("train: --chat-template gives a model of text the form of conversations, for adapters to learn", "[cli]") {
    const TrainFolder folder;
    const std::string chats = folder.write("chats.jsonl", chat_line("the fox", "the dog"));
    const Arguments flags = folder.train("--chat-template chatml", small("--block-size 48"));
    check_fails(call(flags), 3, "a tokenizer of kind char has no tokens for the marks");
    execute(flags + "--tokenizer bpe --vocab-size 300");
    check_has(read_file(folder.out + "/latest/tokenizer_config.json"), "chat_template");
    execute("train --data", chats, "--init-from", folder.out, "--lora-rank 2 --out", folder.path("lora"),
            "--max-iters 3 --val-fraction 0");
    execute(folder.resume("--max-iters 21"));
}
