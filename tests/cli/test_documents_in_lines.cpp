// Documents in lines in the commands train, eval and tokenize, and a conversation with the trained model.
#include "tests/cli/program.h"
#include "tests/models/chat_folder.h"

using namespace inkling::testing;

namespace {

std::string chat_lines(std::size_t n) {
    std::string lines;
    for (std::size_t i = 0; i < n; ++i) {
        const std::string animal = i % 2 ? "the fox" : "the dog", verb = i % 3 ? "runs" : "sleeps";
        lines += "{\"messages\": [{\"role\": \"user\", \"content\": \"What does " + animal + " do? " +
                 std::to_string(i) + "\"}, {\"role\": \"assistant\", \"content\": \"It " + verb + ".\"}]}\n";
    }
    return lines;
}

Arguments chat_training(const std::string& data, const std::string& out) {
    return Arguments{"train", "--data", data, "--out", out} +
           small({"--tokenizer", "bpe", "--vocab-size", "300", "--block-size", "48", "--n-embd", "32", "--val-fraction",
                  "0.2"});
}

}  // namespace

TEST_CASE("documents in lines: conversations are trained on, evaluated, talked with and exported", "[cli]") {
    const ScratchFolder folder;
    const std::string data = folder.write("chats.jsonl", chat_lines(40)), out = folder.path("run");
    const Result r = succeeded(program(chat_training(data, out)));
    CHECK_THAT(r.err, contains("conversations are learned as ChatML", "documents in "));
    const auto samples =
        json_lines(read_file(out + "/samples.jsonl"));  // the last: an answer to a question that is new
    CHECK_THAT(samples.back()["prompt"].get<std::string>(), contains("user\n"));
    CHECK(samples.back()["prompt"].get<std::string>().ends_with("assistant\n"));
    CHECK_THAT(read_file(out + "/config.toml"), contains("loss_on = 'completions'"));
    const auto config = json::parse(read_file(out + "/best/tokenizer_config.json"));
    CHECK(config["eos_token"] == "<|im_end|>");
    CHECK_THAT(config["chat_template"].get<std::string>(), contains("<|im_start|>"));
    const auto measured = json_lines(program({"eval", "--model", out, "--data", data, "--json"}));
    REQUIRE(measured.size() == 1);
    CHECK(measured[0]["documents"] == 40);
    CHECK(measured[0]["cut"] == 0);
    CHECK(measured[0]["loss"] < 5.8);
    const auto all = json_lines(program({"eval", "--model", out, "--data", data, "--loss-on", "all", "--json"}));
    CHECK(all[0]["tokens"] > 2 * measured[0]["tokens"].get<int>());
    const auto ids = json_lines(program({"tokenize", "documents", "--model", out, "--data", data}));
    REQUIRE(ids.size() == 40);
    std::size_t learned = 0;
    for (const auto& line : ids)
        for (const auto& one : line["learn"]) learned += one == 1;
    CHECK(measured[0]["tokens"] == learned);
    const Result talk = succeeded(
        program({"chat", "--model", out, "-n", "5", "--seed", "1"}, "", folder.write("in", "What does it do?\n")));
    CHECK(talk.out.ends_with('\n'));
    const auto prompts = json_lines(program({"tokenize", "documents", "--model", out, "--data", data, "--prompts"}));
    CHECK(prompts[0]["ids"].size() > ids[0]["ids"].size());
    succeeded(program({"export", "--model", out, "--out", folder.path("m.gguf")}));
    CHECK_THAT(read_file(folder.path("m.gguf")), contains("tokenizer.chat_template"));
    succeeded(program({"export", "--model", out, "--out", folder.path("hf"), "--format", "hf"}));
    CHECK(json::parse(read_file(folder.path("hf/tokenizer_config.json")))["chat_template"] == config["chat_template"]);
    // continues, and reports what changed
    succeeded(program(Arguments{"train", "--data", data, "--out", out, "--resume", "auto", "--max-iters", "22"}));
    check_fails(
        program({"train", "--data", data, "--out", out, "--resume", "auto", "--max-iters", "24", "--loss-on", "all"}),
        3, "--loss-on was 'completions', is 'all'");
}

TEST_CASE("documents in lines: a model with a chat template keeps it", "[cli]") {
    const ChatFolder model;
    const ScratchFolder folder;
    const std::string data = folder.write("chats.jsonl", chat_lines(12)), out = folder.path("run");
    const Result r =
        succeeded(program({"train", "--data", data, "--init-from", model.scratch.path(), "--out", out, "--max-iters",
                           "3", "--batch-size", "2", "--threads", "1", "--val-fraction", "0.2"}));
    CHECK_THAT(r.err, !contains("as ChatML"));
    CHECK(json::parse(read_file(out + "/best/tokenizer_config.json"))["chat_template"] == kChatMl);
    // a model without a chat template gets one, and rows that fit
    succeeded(program({"train", "--data", data, "--init-from", tests_path("reference/greedy_gpt2"), "--out",
                       folder.path("grown"), "--max-iters", "3", "--batch-size", "2", "--threads", "1"}));
    CHECK(json::parse(read_file(folder.path("grown/latest/config.json")))["vocab_size"] == 813);
    succeeded(program({"chat", "--model", folder.path("grown"), "-n", "3"}, "", folder.write("in", "What?\n")));
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
    for (const std::string& data : {c, t}) {
        const Result r =
            succeeded(program(Arguments{"train", "--data", data, "--out", folder.path("run"), "--overwrite"} +
                              small({"--block-size", "20"})));
        CHECK_THAT(r.err, contains("documents longer than a row: the rest is left out"));  // of 20 tokens
    }
    const auto train = [&](const Arguments& more) {
        return program(Arguments{"train", "--out", folder.path("other")} + kSmall + more);
    };
    check_fails(train({"--data", bad}), 3, bad + ": line 31: \"text\" must be a text");
    check_fails(train({"--data", c, plain}), 3, "give one or the other");
    check_fails(train({"--data", folder.write("m.jsonl", chat_lines(9)), "--tokenizer", "char"}), 3, "--tokenizer bpe");
    const Result skipped = succeeded(train({"--data", bad, "--skip-bad-lines"}));
    CHECK_THAT(skipped.err, contains("skipped 1 bad line, such as " + bad + ": line 31: "));
    check_fails(call({"eval", "--model", folder.path("run"), "--data", bad}), 3, "line 31");
    check_fails(call({"eval", "--model", folder.path("run"), "--data", t, "--stride", "4"}), 2, "--stride is for text");
    check_fails(call({"tokenize", "documents", "--model", folder.path("run"), "--data", plain}), 3,
                "documents in lines are required");
}
