// Documents in lines.
#include "tests/data/text/examples.h"

const std::string kConversation =
    "{\"id\": 5, \"messages\": [{\"role\": \"user\", \"content\": \"a\\n\"}, {\"role\": \"assistant\", \"content\": "
    R"(""}]})";

static Corpus piped(std::string_view text) {
    return read_corpus({"-"}, {}, [left = text](char* to, std::size_t max_size) mutable {
        const std::size_t n = left.copy(to, max_size);
        left.remove_prefix(n);
        return n;
    });
}

TEST_CASE("documents: the three shapes", "[data]") {
    const Example chat = parsed(kConversation);
    CHECK(chat.shape == ExampleShape::messages);
    CHECK(chat.parts == std::vector<ChatMessage>{{"user", "a\n"}, {"assistant", ""}});
    const Example completion = parsed(R"({"completion": "b", "prompt": "a"})");
    CHECK(completion.shape == ExampleShape::completion);
    CHECK(completion.parts == std::vector<ChatMessage>{{"prompt", "a"}, {"completion", "b"}});
    const Example text = parsed(" {\"text\": \"\\u00e9\", \"prompt\": 5} ");
    CHECK(text.shape == ExampleShape::text);
    CHECK(text.parts == std::vector<ChatMessage>{{"text", "\xC3\xA9"}});
    CHECK(parsed(to_line(chat.parts)).parts == chat.parts);
    CHECK(to_line({{"user", "a\"\n"}}) == "{\"messages\":[{\"role\":\"user\",\"content\":\"a\\\"\\n\"}]}\n");
}

TEST_CASE("documents: the shapes that people have for conversations", "[data]") {
    const std::string both = "user: Say 1 | assistant: 1 it is.";
    const std::string same[] = {
        R"({"messages": [{"content": "Say 1", "role": "user", "name": "a"}, {"role": "assistant", "content": "1 it is."}]})",
        R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "Say "}, {"text": "1", "type": "text"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "1 it is."}]}]})",
        R"({"id": "x", "conversations": [{"from": "human", "value": "Say 1"}, {"from": "gpt", "value": "1 it is."}]})",
        R"({"conversations": [{"role": "user", "content": "Say 1"}, {"role": "model", "content": "1 it is."}]})",
        R"({"conversation": [{"value": "Say 1", "from": "user"}, {"value": "1 it is.", "from": "assistant"}], "text": null})",
        R"({"instruction": "Say 1", "input": "", "output": "1 it is."})",
        R"({"output": "1 it is.", "instruction": "Say 1", "history": [], "system": ""})",
        R"({"messages": [{"role": "user", "content": "Say 1"}, {"role": "assistant", "content": "1 it is.",
            "tool_calls": [], "weight": 1}], "tools": null, "weight": 1.0})",
    };
    for (const std::string& line : same) {
        INFO(line);
        CHECK_ALL(shown(line) == both, parsed(line).shape == ExampleShape::messages);
        CHECK_FALSE(parsed(line).marked);
    }
    CHECK(shown(R"({"prompt": [{"role": "user", "content": "Say 1"}],
            "completion": [{"role": "assistant", "content": "1 it is."}]})") == both);
    CHECK(shown(R"({"instruction": "Add.", "input": "1, 2", "output": "3", "system": "Be short.",
            "history": [["Hi", "Hello"]]})") ==
          "system: Be short. | user: Hi | assistant: Hello | user: Add.\n1, 2 | assistant: 3");
    CHECK(shown(R"({"system": "Be short.", "messages": [{"role": "user", "content": "a"}]})") ==
          "system: Be short. | user: a");
    CHECK(shown(R"({"messages": [{"role": "developer", "content": "Be short."}]})") == "system: Be short.");
    // TRL: nothing in the prompt is learned
    const Example d = parsed(R"({"prompt": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"}], "completion": [{"role": "assistant", "content": "d"}]})");
    CHECK_ALL(shown(d) == "user: a | assistant: b (not learned) | user: c | assistant: d", !d.marked);
}

TEST_CASE("documents: half of a shape is none, nor is a null, and Python's own numbers are passed over", "[data]") {
    CHECK(shown(R"({"prompt": "p", "prompt_id": "x", "messages": [{"role": "user", "content": "m"}]})") == "user: m");
    CHECK(shown(R"({"prompt": "rendered", "instruction": "i", "input": "", "output": "o"})") ==
          "user: i | assistant: o");
    CHECK(shown(R"({"instruction": "i", "response": "r", "text": "t"})") == "text: t");
    CHECK(shown(R"({"completion": "c", "text": "t"})") == "text: t");
    CHECK(shown(R"({"messages": null, "instruction": "i", "output": null, "text": "t"})") == "text: t");
    CHECK_THROWS_WITH(parsed(R"({"messages": [], "text": "t"})"), contains("must be a list of messages, got []"));
    const std::string more = R"("score": NaN, "a": [Infinity, -Infinity, 1e999], "b": {"c": "half \ud83d"}, )";
    CHECK(shown("{" + more + R"("prompt": "a", "completion": "b"})") == "prompt: a | completion: b");
    CHECK_THROWS_WITH(parsed("{" + more + R"("prompt": NaN, "completion": "b"})"),
                      contains(R"(line 1: "prompt" must be a text, got NaN)"));
    CHECK_THROWS_WITH(parsed(R"({"text": 1e999})"), contains("\"text\" must be a text, got 1e999"));
}

TEST_CASE("documents: bad lines are named, or skipped and counted", "[data]") {
    for (const std::string& row : lines_of(read_file(tests_path("data/text/bad_lines.tsv")))) {
        const std::string line = row.substr(0, row.find('\t')), message = row.substr(row.find('\t') + 1);
        const std::string lines = kConversation + "\r\n\n" + line + "\n" + kConversation;
        INFO(line);
        CHECK_THROWS_WITH(read_examples(lines), contains("line 3: ", message));
        const ExampleLines some = read_examples(lines, true);
        CHECK_ALL(some.list.size() == 2, some.list[1].line == 4, some.bad_lines == 1);
        CHECK_THAT(some.first_bad_line, contains("line 3: ", message));
    }
}

TEST_CASE("documents: a corpus has them by content", "[data]") {
    const ScratchFolder folder;
    const std::string chats = folder.write("chats.jsonl", kConversation + "\n" + kConversation + "\n"),
                      texts = folder.write("texts.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n"),
                      other = folder.write("other.jsonl", "{\"t\": \"a\"}\n{\"t\": \"b\"}\n"),
                      plain = folder.write("plain.txt", "{\"text\": \"one\"}\n"),
                      bad = folder.write("bad.jsonl", "no\n" + kConversation + "\nworse\n");
    const Corpus both = read_corpus({chats, texts});
    REQUIRE(both.examples);
    REQUIRE(both.examples->size() == 4);
    CHECK(both.place_of((*both.examples)[1]) == chats + ": line 2");
    CHECK(both.place_of((*both.examples)[3]) == texts + ": line 2");
    CHECK(both.source_of(3) == texts + ": record 2 with text");
    CHECK(both.documents == std::vector<std::string_view>{"a\n", "a\n", "one", "two"});
    CHECK(Corpus(both).documents[3].data() == both.documents[3].data());  // a copy shares the texts
    CHECK_THROWS_WITH(read_corpus({other}), contains(other + R"(: line 1: none of "messages")"));
    CHECK_THROWS_WITH(read_corpus({other}, {.skip_bad_lines = true}),
                      contains("nothing is left to read: skipped 2 bad lines, such as " + other + ": line 1: "));
    CHECK(read_corpus({other}, {.text_field = "t"}).documents == std::vector<std::string_view>{"a", "b"});
    CHECK_FALSE(read_corpus({plain}).examples);
    CHECK_FALSE(read_corpus({texts}, {.text_field = "text"}).examples);
    CHECK_THROWS_WITH(read_corpus({chats, plain}),
                      contains(chats + " holds one document a line, and " + plain + " is other text"));
    CHECK_THROWS_WITH(read_corpus({plain, chats}), contains("give one or the other"));
    CHECK_THROWS_WITH(read_corpus({bad}), contains(bad + ": line 1: it: not valid JSON"));
    const Corpus skipped = read_corpus({bad}, {.skip_bad_lines = true});
    CHECK_ALL(skipped.examples->size() == 1, skipped.bad_lines == 2);
    REQUIRE(skipped.notes().size() == 1);
    CHECK(skipped.notes()[0].starts_with("skipped 2 bad lines, such as " + bad + ": line 1: "));
    const Corpus in = piped(kConversation);
    REQUIRE(in.examples);
    CHECK(in.place_of((*in.examples)[0]) == "standard input: line 1");
}

TEST_CASE("documents: JSON is never taken for text unasked", "[data]") {
    const ScratchFolder folder;
    const std::string alpaca = R"({"instruction": "Say 1", "input": "", "output": "1 it is."})",
                      unknown = R"({"q": "Say 1", "a": "1 it is."})";
    // a list, JSON lines, and one object over several lines, in files that end in .json
    const auto read_json = [&](const std::string& text) { return read_corpus({folder.write("a.json", text)}); };
    for (const std::string& text : {"[" + alpaca + ",\n " + alpaca + "]", alpaca + "\n\n" + alpaca,
                                    std::string("{\n\"instruction\": \"a\",\n\"output\": \"b\"}\n")})
        WITH_INFO(text, CHECK(read_json(text).examples));
    const std::string path = folder.path("a.json");
    const Corpus list = read_json("[" + alpaca + ",\n " + alpaca + "]");
    CHECK(list.place_of(list.examples->at(1)) == path + ": record 2");
    const Corpus one = read_json("\n" + alpaca);
    CHECK(one.place_of(one.examples->at(0)) == path + ": line 2");
    CHECK_THROWS_WITH(read_json("[" + alpaca + ",\n " + unknown + "]"), contains(path + ": record 2: none of"));
    CHECK_THROWS_WITH(read_json("[" + alpaca + ",\n " + alpaca), contains(path + ": it: not valid JSON"));
    CHECK_THROWS_WITH(read_json(unknown), contains(path + ": line 1: none of"));
    for (const char* const other : {"{\n\"data\": [1]\n}", "[1, 2]", "{}", "no JSON"})
        CHECK_THROWS_WITH(read_json(other), (contains(path, "none of")) || contains("it holds no documents"));
    // standard input that begins this way
    CHECK_ALL(piped("[" + alpaca + "]").examples, piped("\n" + alpaca).examples);
    CHECK_THROWS_WITH(piped(unknown + "\n"), contains("standard input: line 1: none of"));
    CHECK_THROWS_WITH(piped("Title\n" + alpaca + "\n"), contains("standard input: line 1: it: not valid JSON"));
    for (const std::string& text :
         {"{ a brace\n" + unknown, "Such as:\n" + unknown + "\n", std::string("[1]"), std::string("{}\n{}")})
        CHECK_FALSE(piped(text).examples);
    // in a folder, files of other kinds are skipped and reported
    folder.write("f/settings.json", R"({"a": 1})");
    folder.write("f/notes.txt", unknown);
    const Corpus some = read_corpus({folder.path("f")});
    CHECK(some.documents == std::vector<std::string_view>{unknown});
    CHECK(some.skipped_list().starts_with("skipped 1 file: 1 JSON of other kinds, such as "));
    folder.write("f/chats.jsonl", unknown);
    CHECK_THROWS_WITH(read_corpus({folder.path("f")}), contains("chats.jsonl: line 1: none of"));
    // blank files hold nothing
    CHECK_THROWS_WITH(read_corpus({folder.write("blank.jsonl", "\n \n")}), contains("it holds no documents"));
}

// What other trainers read is in the file, beside what is done here (tests/reference/make_data_reference.py).
