// Documents in lines in the commands train, eval and tokenize, and a conversation with the trained model.
#include "tests/cli/program.h"
#include "tests/models/chat_folder.h"

static std::string chat_lines(std::size_t n) {
    std::string lines;
    for (std::size_t i = 0; i < n; ++i) {
        const std::string animal = i % 2 ? "the fox" : "the dog", verb = i % 3 ? "runs" : "sleeps";
        lines += chat_line("What does " + animal + " do? " + std::to_string(i), "It " + verb + ".");
    }
    return lines;
}

TEST_CASE("documents in lines: conversations are trained on, evaluated, talked with and exported", "[cli]") {
    const ScratchFolder folder;
    const std::string data = folder.write("chats.jsonl", chat_lines(40)), out = folder.path("run");
    check_has(execute("train --data", data, "--out", out,
                      small("--tokenizer bpe --vocab-size 300 --block-size 48 --n-embd 32 --val-fraction 0.2"))
                  .err,
              "conversations are learned as ChatML", "documents in ");
    // the last sample is an answer to a question that is new
    const std::string prompt = lines_in(out + "/samples.jsonl").back()["prompt"];
    check_has(prompt, "user\n");
    CHECK(prompt.ends_with("assistant\n"));
    check_has(read_file(out + "/config.toml"), "loss_on = 'completions'");
    const auto config = json_in(out + "/best/tokenizer_config.json");
    CHECK(config["eos_token"] == "<|im_end|>");
    check_has(config["chat_template"].get<std::string>(), "<|im_start|>");
    const Arguments eval = words("eval --model", out, "--data", data),
                    tokenize = words("tokenize documents --model", out, "--data", data);
    const auto measured = json_of(eval);
    check_holds(measured, "documents", 40, "cut", 0);
    CHECK(measured["loss"] < 5.8);
    CHECK(json_of(eval, "--loss-on all")["tokens"] > 2 * measured["tokens"].get<int>());
    const auto ids = json_lines(program(tokenize)), prompts = json_lines(program(tokenize + "--prompts"));
    REQUIRE(ids.size() == 40);
    std::size_t learned = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::vector<int> all = ids[i]["ids"], learn = ids[i]["learn"];
        const auto answer = std::find(learn.begin(), learn.end(), 1);
        CHECK(prompts[i]["ids"] == std::vector<int>(all.begin(), all.begin() + (answer - learn.begin())));
        learned += static_cast<std::size_t>(std::count(learn.begin(), learn.end(), 1));
    }
    const Arguments text = words("tokenize documents --prompts --model", out, "--data");
    check_fails(program(text + folder.write("text.jsonl", R"({"text": "no"})")), 3, "--prompts is for conversations");
    CHECK(measured["tokens"] == learned);
    const Result talk =
        succeeded(program(words("chat --model", out, "-n 5 --seed 1"), "", folder.write("in", "What does it do?\n")));
    CHECK(talk.out.ends_with('\n'));
    execute("export --model", out, "--out", folder.path("m.gguf"));
    check_has(read_file(folder.path("m.gguf")), "tokenizer.chat_template");
    execute("export --model", out, "--out", folder.path("hf"), "--format hf");
    CHECK(json_in(folder.path("hf/tokenizer_config.json"))["chat_template"] == config["chat_template"]);
    // continues, and reports what changed
    const Arguments resume = words("train --data", data, "--out", out, "--resume auto --max-iters");
    execute(resume, "22");
    check_fails(program(resume + "24 --loss-on all"), 3, "--loss-on was 'completions', is 'all'");
}

TEST_CASE("documents in lines: a model with a chat template keeps it", "[cli]") {
    const ChatFolder model;
    const ScratchFolder folder;
    const std::string data = folder.write("chats.jsonl", chat_lines(12)), out = folder.path("run");
    const Arguments train = words("train --max-iters 3 --batch-size 2 --threads 1 --data", data, "--init-from");
    check_lacks(execute(train, model.scratch.path(), "--out", out, "--val-fraction 0.2").err, "as ChatML");
    CHECK(json_in(out + "/best/tokenizer_config.json")["chat_template"] == kChatMl);
    // a model without a chat template gets one, and rows that fit
    execute(train, tests_path("reference/greedy_gpt2"), "--out", folder.path("grown"));
    CHECK(json_in(folder.path("grown/latest/config.json"))["vocab_size"] == 813);
    succeeded(program(words("chat --model", folder.path("grown"), "-n 3"), "", folder.write("in", "What?\n")));
}

TEST_CASE("documents in lines: prompts with completions, texts, and what is wrong with lines", "[cli]") {
    const ScratchFolder folder;
    std::string completions, texts;
    for (int i = 0; i < 30; ++i) {
        completions += "{\"prompt\": \"the quick \", \"completion\": \"brown fox " + std::to_string(i) + "\"}\n";
        texts += "{\"text\": \"the quick brown fox " + std::to_string(i) + "\"}\n";
    }
    const std::string c = folder.write("c.jsonl", completions), t = folder.write("t.jsonl", texts),
                      bad = folder.write("bad.jsonl", texts + "{\"text\": 5}\n"),
                      plain = folder.write("p.txt", small_text());
    const std::string run = folder.path("run");
    for (const std::string& data : {c, t})
        check_has(execute("train --data", data, "--out", run, "--overwrite", small("--block-size 20")).err,
                  "documents longer than a row: the rest is left out");  // of 20 tokens
    const auto train = [&](const auto&... data) {
        return program("train --out", folder.path("other"), kSmall, "--data", data...);
    };
    check_fails(train(bad), 3, bad + ": line 31: \"text\" must be a text");
    check_fails(train(c, plain), 3, "give one or the other");
    check_fails(train(folder.write("m.jsonl", chat_lines(9)), "--tokenizer char"), 3, "--tokenizer bpe");
    check_has(succeeded(train(bad, "--skip-bad-lines")).err, "skipped 1 bad line, such as " + bad + ": line 31: ");
    check_fails(call("eval --model", run, "--data", bad), 3, "line 31");
    check_fails(call("eval --model", run, "--data", t, "--stride 4"), 2, "--stride is for text");
    check_fails(call("tokenize documents --model", run, "--data", plain), 3, "documents in lines are required");
}
