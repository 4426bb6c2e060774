// inkling chat: piped, for programs, and on a terminal.
#include "tests/cli/terminal.h"
#include "tests/models/chat_folder.h"

namespace {

struct ChatProgram {
    ChatFolder model;
    ScratchFolder folder;

    template <class... Pieces>
    Arguments flags(const Pieces&... more) const {
        return words("chat --model", model.scratch.path(), "--seed 7 --threads 1", more...);
    }
    template <class... Pieces>
    Result run(const std::string& input, const Pieces&... more) const {
        return succeeded(program(flags(more...), "", folder.write("in", input)));
    }
};

std::string content(const ordered_json& message) { return message["content"]; }

}  // namespace

TEST_CASE("chat: each line of stdin is answered", "[cli]") {
    const ChatProgram chat;
    const Result r = chat.run("One day\n\nAnd then?\n", "-n 5");
    const std::string cut = "(the answer is cut after 5 tokens: /set max-tokens allows more)\n";
    CHECK(r.err == "seed 7\n" + cut + cut);
    const auto turns = json_lines(chat.run("{\"content\": \"One day\"}\n{\"content\":\"And then?\"}\n", "-n 5 --json"));
    REQUIRE(turns.size() == 2);
    CHECK(r.out == content(turns[0]) + "\n" + content(turns[1]) + "\n");
    for (const auto& turn : turns)
        check_holds(turn, "role", "assistant", "tokens", 5, "stop_reason", "length", "seed", 7, "forgotten", 0);
    CHECK(turns[1]["prompt_tokens"] > turns[0]["prompt_tokens"]);
    // no line end at the end, and a continued line
    const auto whole = json_lines(chat.run("{\"content\":\"One\\nday\"}\n", "-n 5 --json"));
    CHECK(chat.run("One\\\nday", "-n 5").out == content(whole[0]) + "\n");
}

TEST_CASE("chat: --json takes whole conversations, and answers bad lines", "[cli]") {
    const ChatProgram chat;
    const auto turns = json_lines(chat.run(R"({"messages": [{"role":"user","content":"One day"}]}
{"content": "And then?", "role": "user"}
not JSON
{"content": 5}
{"messages": []}
{"content":"a","temperature":1}
{"messages": [{"role":"user","content":"One day"},{"role":"assistant","content":"Rosa"}]}

{"messages": [{"role":"tool","content":"One day"}]}
{"messages": [{"role":"user","content":"One day"}]}
)",
                                           "-n 4 --temperature 0 --json"));
    REQUIRE(turns.size() == 9);
    const std::pair<std::size_t, const char*> errors[] = {
        {2, "not valid JSON"},       {3, "must be a text"},
        {4, "must be a list"},       {5, "\"temperature\" is not supported"},
        {6, "is already an answer"}, {7, "must be system, user or assistant"}};
    for (const auto& [line, text] : errors) {
        CHECK(turns[line].size() == 1);
        check_has(turns[line]["error"].get<std::string>(), text);
    }
    check_holds(turns[8], "content", turns[0]["content"], "prompt_tokens", turns[0]["prompt_tokens"]);
    // the model sees the system message
    const auto told = json_lines(chat.run("{\"content\":\"One day\"}\n", "-n 4 --system 'Be short.' --json"));
    CHECK(told[0]["prompt_tokens"] > turns[0]["prompt_tokens"]);
}

TEST_CASE("chat: commands, of which /save replaces conversations alone", "[cli]") {
    const ChatProgram chat;
    const std::string file = chat.folder.path("saved.jsonl");
    const Result r = chat.run("/system Be short.\nOne day\n/save " + file +
                                  "\n/reset\n/system\n/system \"\"\n/system\n/reset\n/load " + file +
                                  "\n/system\n/set temperature 0.25\n/set max_tokens 1\n/set max-tokens 2\n/set\n/set "
                                  "top-p 7\n/set temperature x\n/set speed 3\n/nothing\n/save /no/such/folder/x\n/load "
                                  "/no/such\n//slash\n/help\n/quit\nnot read\n",
                              "-n 3");
    CHECK(std::count(r.out.begin(), r.out.end(), '\n') >= 2);
    const auto saved = lines_in(file);
    REQUIRE(saved.size() == 1);
    REQUIRE(saved[0]["messages"].size() == 3);
    CHECK(saved[0]["messages"][0]["content"] == "Be short.");
    CHECK(r.out.starts_with(content(saved[0]["messages"][2]) + "\n"));
    check_has(r.err, "(3 messages written to ",
              "(another conversation; the system text stays)\n(Be short.)\n(there is no system message)\n"
              "(another conversation)\n(3 messages)\n(Be short.)\n",
              "\ntemperature 0.25\n", "\nmax-tokens 2\n", "\nseed 7\n",
              "inkling: /set top-p: ", "'x' is not a valid value", "/set speed: there is no such setting",
              "inkling: /nothing: there is no such command", "/no/such/folder/x", "Ctrl-C",
              "/set max_tokens: there is no such");
    const std::string notes = chat.folder.write("notes.txt", "mine"), one = chat.folder.path("one.jsonl");
    const std::string two = chat_line("a", "b") + chat_line("a", "b"), many = chat.folder.write("many.jsonl", two);
    const Result done =
        chat.run("One day\n/save " + notes + "\n/save " + many + "\n/save " + one + "\n/save " + one + "\n", "-n 2");
    for (const std::string& there : {notes, many})
        check_has(done.err, "inkling: /save " + there + ": this file exists and is not a conversation");
    CHECK_ALL(read_file(notes) == "mine", read_file(many) == two, lines_in(one).size() == 1);
    chat.run("One day\n/save --overwrite " + notes + "\n", "-n 2");
    CHECK(lines_in(notes).size() == 1);
}

TEST_CASE("chat: a full context is said, and what cannot be", "[cli]") {
    const ChatProgram chat;
    check_has(chat.run(repeated("One day Rosa ran\n", 100), "-n 12 --temperature 0").err,
              "(the context is full: the model no longer sees the first 2 messages)\n");
    check_has(chat.run("One day\n", "--seed 4").err, "(the context is full: the answer ends here)\n");
    const Result large = chat.run(std::string(2000, 'x') + "\nOne day\n", "-n 2");
    check_has(large.err, "inkling: the message has ");
    check_fails(call("chat --model", small_run()), 3, "the model has no chat template");
    check_fails(call("chat"), 2, "--model"), check_fails(call(chat.flags("--temperature -1")), 2, "temperature");
    check_fails(call(chat.flags("--system a\xFF")), 3, "--system: not UTF-8");
    check_has(chat.run("a\xFF\nOne day\n", "-n 2").err, "inkling: this line is not UTF-8\n");
}

TEST_CASE("chat: Ctrl-C on a terminal stops the answer, and Ctrl-D ends", "[cli]") {
    const ChatFolder model(kChatMl, 1 << 16);
    Terminal t(words("chat --model", model.scratch.path(), "--threads 1 --temperature 0"));
    t.enter("One day\n");
    t.expect("day\r\n");
    t.interrupt("(the answer is cut: Ctrl-C)");
    t.enter("/save /dev/null\n");
    t.expect("(2 messages written to /dev/null)");
    t.type("caf");
    t.expect("caf");
    t.interrupt("\r\n> ");     // drops the line
    t.type("/caf\xC3\xA9\n");  // the editor knows characters of several bytes
    t.expect("inkling: /caf\xC3\xA9: there is no such command");
    t.enter("\x04");
    CHECK(t.wait() == 0);
}
