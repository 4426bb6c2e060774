// Documents in lines.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "data/text/corpus.h"
#include "engine/base/check.h"
#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/support/scratch_folder.h"

using namespace inkling;
using namespace inkling::data;
using testing::ScratchFolder, testing::tests_path;

namespace {

const std::string kConversation =
    "{\"id\": 5, \"messages\": [{\"role\": \"user\", \"content\": \"a\\n\"}, {\"role\": \"assistant\", \"content\": "
    R"(""}]})";

// Parses one line, which may be written on several lines here.
Example parsed(std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    return read_examples(line).list.at(0);
}

Corpus piped(std::string_view text) {
    return read_corpus({"-"}, {}, [left = text](char* to, std::size_t max_size) mutable {
        const std::size_t n = left.copy(to, max_size);
        left.remove_prefix(n);
        return n;
    });
}

// "user: a | assistant: b (not learned)"
std::string shown(const Example& d) {
    std::string all;
    for (const ChatMessage& m : d.parts)
        all +=
            fmt::format("{}{}: {}{}", all.empty() ? "" : " | ", m.role, m.content, m.learned ? "" : " (not learned)");
    return all;
}
std::string shown(const std::string& line) { return shown(parsed(line)); }

}  // namespace

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
        CHECK(shown(line) == both);
        CHECK(parsed(line).shape == ExampleShape::messages);
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
    CHECK(shown(d) == "user: a | assistant: b (not learned) | user: c | assistant: d");
    CHECK_FALSE(d.marked);
}

TEST_CASE("documents: marks say which answers are learned", "[data]") {
    const auto marked = [](const std::string& mark, const std::string& role = "assistant") {
        return R"({"messages": [{"role": "user", "content": "a"}, {"role": ")" + role + R"(", "content": "b", )" +
               mark + R"(}, {"role": "assistant", "content": "c"}]})";
    };
    // the reference table below has one mark at a time
    for (const char* const off : {R"("weight": 0.0)", R"("loss": 0)", R"("weight": 1, "train": false)",
                                  R"("masked": 1)", R"("masked": false, "weight": 0)"}) {
        INFO(off);
        CHECK(shown(marked(off)) == "user: a | assistant: b (not learned) | assistant: c");
    }
    for (const char* const on : {R"("train": true)", R"("loss": null)", R"("weights": 0)", R"("label": 0)",
                                 R"("trainable": true, "loss_mask": 1)", R"("mask": "")", R"("loss_scale": 1.0)"}) {
        INFO(on);
        CHECK(shown(marked(on)) == "user: a | assistant: b | assistant: c");
    }
    CHECK(shown(marked(R"("weight": 0)", "user")) == "user: a | user: b (not learned) | assistant: c");
    CHECK_THAT(to_line(parsed(marked(R"("train": false)")).parts), contains(R"("b","weight":0})"));
    CHECK(parsed(to_line(parsed(marked(R"("train": false)")).parts)).parts[1].learned == false);
    const auto with_part = [](const char* key) {
        return fmt::format(
            R"({{"messages": [{{"role": "assistant", "content": [{{"type": "text", "text": "a", {}}}]}}]}})", key);
    };
    const auto with_list = [](const char* key) {
        return fmt::format(R"({{"{}": [1], "conversations": [{{"role": "user", "content": "a"}}]}})", key);
    };
    const std::pair<std::string, std::string> refused[] = {
        {marked(R"("weight": 0.5)"), R"(message 2: "weight" must be 0 or 1, or false or true, got 0.5)"},
        {marked(R"("weight": "0")"), R"("weight" must be 0 or 1)"},
        {marked(R"("weight": NaN)"), "got NaN"},
        {marked(R"("masked": 0.5)"), R"("masked" must be 0 or 1)"},
        {marked(R"("train": true)", "user"),
         "message 2: it is marked to be learned, and answers alone are: --loss-on all learns all"},
        {marked(R"("masked": false)", "user"), "message 2: it is marked to be learned"},
        {marked(R"("mask": true)"), "message 2: \"mask\" changes what is learned, and true is not read"},
        {marked(R"("segments": [{"label": false}])"), "message 2: \"segments\" changes what is learned"},
        {marked(R"("label": false)"), "message 2: \"label\" changes what is learned"},
        {with_part(R"("loss_weight": 0)"), R"(message 1: "loss_weight" changes what is learned, and 0 is not read)"},
        {with_list("tools"), R"("tools" changes what is learned, and [1] is not read)"},
        {with_list("images"), R"("images" changes what is learned, and [1] is not read)"}};
    for (const auto& [line, message] : refused) CHECK_THROWS_WITH(parsed(line), contains("line 1: ", message));
}

TEST_CASE("documents: marks beside the texts of a line are refused by name, in every shape", "[data]") {
    const char* const shapes[] = {
        R"("messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])",
        R"("conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}])",
        R"("instruction": "a", "output": "b")",
        R"("prompt": "a", "completion": "b")",
        R"("prompt": [{"role": "user", "content": "a"}], "completion": [{"role": "assistant", "content": "b"}])",
        R"("text": "a")"};
    const auto refused = nlohmann::json::parse(R"([
        ["weight", 0], ["weight", 0.5], ["weight", "1"], ["loss_weight", 2.0], ["train", false], ["training", false],
        ["train_on_turn", false], ["trainable", false], ["loss", false], ["loss_mask", [0, 1]], ["loss_mask", 0],
        ["step_loss_mask", 0], ["masked", true], ["mask", "Assistant"], ["train_detail", [{"begin_offset": 0}]],
        ["segments", [{"text": "a"}]], ["loss_scale", 0.1], ["loss_weights", [1, 0]], ["sample_weight", 0],
        ["labels", [-100, 5]], ["assistant_mask", [0, 1]], ["assistant_masks", [0, 1]], ["completion_mask", [0, 1]],
        ["unmask", true], ["label", false], ["kto_tag", false]])");
    const auto kept = nlohmann::json::parse(R"([
        ["weight", 1], ["loss_weight", 1.0], ["train", true], ["loss_mask", null], ["loss_mask", []], ["masked", false],
        ["mask", "User"], ["sample_weight", 1], ["unmask", false], ["label", true], ["label", 0], ["label", ""],
        ["kto_tag", true], ["score", 0], ["split", "test"]])");
    const auto line = [](const nlohmann::json& mark, const std::string& shape) {
        return fmt::format("{{{}: {}, {}}}", mark[0].dump(), mark[1].dump(), shape);
    };
    for (const std::string shape : shapes) {
        const std::string plain = "{" + shape + "}";
        for (const nlohmann::json& mark : refused) {
            const bool of_answers = mark[0] == "label" || mark[0] == "kto_tag";  // a bad answer, or a text's class
            INFO(line(mark, shape));
            if (of_answers && shape == shapes[5])
                CHECK(shown(line(mark, shape)) == shown(plain));
            else
                CHECK_THROWS_WITH(parsed(line(mark, shape)),
                                  contains("line 1: " + mark[0].dump() + " changes what is learned, and ",
                                           " is not read: leave out the "));
        }
        for (const nlohmann::json& mark : kept) CHECK(shown(line(mark, shape)) == shown(plain));
    }
}

TEST_CASE("documents: half of a shape is none, nor is a key that is null", "[data]") {
    CHECK(shown(R"({"prompt": "p", "prompt_id": "x", "messages": [{"role": "user", "content": "m"}]})") == "user: m");
    CHECK(shown(R"({"prompt": "rendered", "instruction": "i", "input": "", "output": "o"})") ==
          "user: i | assistant: o");
    CHECK(shown(R"({"instruction": "i", "response": "r", "text": "t"})") == "text: t");
    CHECK(shown(R"({"completion": "c", "text": "t"})") == "text: t");
    CHECK(shown(R"({"messages": null, "instruction": "i", "output": null, "text": "t"})") == "text: t");
    CHECK_THROWS_WITH(parsed(R"({"messages": [], "text": "t"})"), contains("must be a list of messages, got []"));
}

TEST_CASE("documents: bad lines are named, or skipped and counted", "[data]") {
    const std::pair<std::string, std::string> table[] = {
        {"{", "not valid JSON"},
        {"[]", "an object is required"},
        {R"("text")", R"(an object is required, such as {"messages": [...]})"},
        {"{}", R"(none of "messages")"},
        {R"({"prompt": "a"})", "none of"},
        {R"({"t": "a", "id": 1})", "its fields are id, t: --text-field NAME reads one field"},
        {R"({"question": "a", "answer": "b"})", R"(it looks like a question, "question", and its answer, "answer")"},
        {R"({"prompt": "a", "response": "b"})", R"(name them "prompt" and "completion")"},
        {R"({"prompt": "a", "chosen": "b", "rejected": "c"})", "it looks like a preference"},
        {R"({"input_ids": [1, 2], "labels": [1, 2]})", "it looks like ids of tokens"},
        {R"({"text": null})", R"("text" must be a text, got null)"},
        {R"({"completion": "a"})", "none of"},
        {R"({"prompt": null, "completion": "a"})", R"("prompt" must be a text, got null)"},
        {R"({"prompt": "a", "completion": [{"role": "assistant", "content": "b"}]})", "must both be texts"},
        {R"({"messages": []})", R"("messages" must be a list of messages, got [])"},
        {R"({"conversations": {}})", R"("conversations" must be a list of messages)"},
        {R"({"messages": [5]})", R"(message 1: an object with "role" and "content" is required, got 5)"},
        {R"({"messages": [{"role": "assistant", "content": null}]})", R"("content" must be a text, got null)"},
        {R"({"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": 1}]}]})",
         R"(message 1: "tool_calls" changes what is learned)"},
        {R"({"messages": [{"role": "user", "content": [{"type": "image"}]}]})",
         R"(message 1: a part of "content" has the type "image")"},
        {"{\"messages\": [{\"role\": \"user\", \"content\": \"\\ud83d\"}]}",
         "\"content\" must be a text, got \"\\ufffd\\ufffd\\ufffd\", half of a surrogate pair in it"},
        {R"({"conversations": [{"from": "function_call", "value": "a"}]})", R"(got "function_call")"},
        {R"({"instruction": "a", "output": 5})", R"("output" must be a text, got 5)"},
        {R"({"instruction": "a", "output": "b", "history": [["c"]]})", R"("history" must be a list of pairs)"},
        {R"({"messages": [{"role": "user"}]})", R"(message 1: "content" must be a text)"},
        {R"({"messages": [{"role": "user", "content": ["a"]}]})", R"(message 1: "content" must be a text)"},
        {R"({"messages": [{"role": "tool", "content": "a"}]})",
         R"(message 1: the role must be system, user or assistant, got "tool")"},
        {R"({"text": "a", "text": "b"})", "appears twice"},
        {R"({"text": "of another shape"})", "it holds text, and line 1 messages: one file holds one shape"},
    };
    for (const auto& [line, message] : table) {
        const std::string lines = kConversation + "\r\n\n" + line + "\n" + kConversation;
        INFO(line);
        CHECK_THROWS_WITH(read_examples(lines), contains("line 3: ", message));
        const ExampleLines some = read_examples(lines, true);
        CHECK(some.list.size() == 2);
        CHECK(some.list[1].line == 4);
        CHECK(some.bad_lines == 1);
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
    CHECK(skipped.examples->size() == 1);
    CHECK(skipped.bad_lines == 2);
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
    const auto json = [&](const std::string& text) { return read_corpus({folder.write("a.json", text)}); };
    for (const std::string& text : {"[" + alpaca + ",\n " + alpaca + "]", alpaca + "\n\n" + alpaca,
                                    std::string("{\n\"instruction\": \"a\",\n\"output\": \"b\"}\n")}) {
        INFO(text);
        CHECK(json(text).examples);
    }
    const std::string path = folder.path("a.json");
    const Corpus list = json("[" + alpaca + ",\n " + alpaca + "]");
    CHECK(list.place_of(list.examples->at(1)) == path + ": record 2");
    const Corpus one = json("\n" + alpaca);
    CHECK(one.place_of(one.examples->at(0)) == path + ": line 2");
    CHECK_THROWS_WITH(json("[" + alpaca + ",\n " + unknown + "]"), contains(path + ": record 2: none of"));
    CHECK_THROWS_WITH(json("[" + alpaca + ",\n " + alpaca), contains(path + ": it: not valid JSON"));
    CHECK_THROWS_WITH(json(unknown), contains(path + ": line 1: none of"));
    for (const char* const other : {"{\n\"data\": [1]\n}", "[1, 2]", "{}", "no JSON"})
        CHECK_THROWS_WITH(json(other), (contains(path, "none of")) || contains("it holds no documents"));
    // standard input that begins this way
    CHECK(piped("[" + alpaca + "]").examples);
    CHECK(piped("\n" + alpaca).examples);
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

TEST_CASE("documents: numbers that only Python's JSON has are passed over", "[data]") {
    const std::string more = R"("score": NaN, "a": [Infinity, -Infinity, 1e999], "b": {"c": "half \ud83d"}, )";
    CHECK(shown("{" + more + R"("prompt": "a", "completion": "b"})") == "prompt: a | completion: b");
    CHECK_THROWS_WITH(parsed("{" + more + R"("prompt": NaN, "completion": "b"})"),
                      contains(R"(line 1: "prompt" must be a text, got NaN)"));
    CHECK_THROWS_WITH(parsed(R"({"text": 1e999})"), contains("\"text\" must be a text, got 1e999"));
}

// What other trainers read is in the file, beside what is done here (tests/reference/make_data_reference.py).
TEST_CASE("documents: marks and shapes of the reference table", "[data]") {
    const auto table = nlohmann::json::parse(formats::read_file(tests_path("reference/training_lines.json")));
    for (const nlohmann::json& row : table.at("marks")) {
        nlohmann::json line = {
            {"messages", {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", "b"}}}}};
        nlohmann::json& place = row.at("where") == "line" ? line : line["messages"][1];
        place[row.at("key").get<std::string>()] = row.at("value");
        const std::string text = line.dump();
        INFO(text);
        if (row.at("learned") == "refused")
            CHECK_THROWS_WITH(parsed(text), contains(row.at("key").dump()));
        else
            CHECK(parsed(text).parts[1].learned == (row.at("learned") == "yes"));
        if (row.at("learned") != "refused") CHECK(parsed(text).marked == (row.at("learned") == "no"));
    }
    const std::map<std::string, std::string> shapes = {{"messages", "user: m asks | assistant: m says"},
                                                       {"conversations", "user: c asks | assistant: c says"},
                                                       {"instruction", "user: i asks | assistant: i says"},
                                                       {"completion", "prompt: p asks | completion:  p says"},
                                                       {"text", "text: t asks and says"}};
    for (const nlohmann::json& row : table.at("shapes"))
        CHECK(shown(row.at("line").dump()) == shapes.at(row.at("inkling")));
}
