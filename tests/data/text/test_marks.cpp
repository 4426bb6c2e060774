// Marks of the answers that are learned.
#include "tests/data/text/examples.h"

TEST_CASE("documents: marks say which answers are learned", "[data]") {
    const auto marked = [](const std::string& mark, const std::string& role = "assistant") {
        return R"({"messages": [{"role": "user", "content": "a"}, {"role": ")" + role + R"(", "content": "b", )" +
               mark + R"(}, {"role": "assistant", "content": "c"}]})";
    };
    // the reference table below has one mark at a time
    for (const char* const off : {R"("weight": 0.0)", R"("loss": 0)", R"("weight": 1, "train": false)",
                                  R"("masked": 1)", R"("masked": false, "weight": 0)"})
        WITH_INFO(off, CHECK(shown(marked(off)) == "user: a | assistant: b (not learned) | assistant: c"));
    for (const char* const on : {R"("train": true)", R"("loss": null)", R"("weights": 0)", R"("label": 0)",
                                 R"("trainable": true, "loss_mask": 1)", R"("mask": "")", R"("loss_scale": 1.0)"})
        WITH_INFO(on, CHECK(shown(marked(on)) == "user: a | assistant: b | assistant: c"));
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
    const json marks = json_in(tests_path("data/text/marks.json")), refused = marks["refused"], kept = marks["kept"];
    const auto line = [](const json& mark, const std::string& shape) {
        return fmt::format("{{{}: {}, {}}}", mark[0].dump(), mark[1].dump(), shape);
    };
    for (const std::string shape : shapes) {
        const std::string plain = "{" + shape + "}";
        for (const json& mark : refused) {
            const bool of_answers = mark[0] == "label" || mark[0] == "kto_tag";  // a bad answer, or a text's class
            INFO(line(mark, shape));
            if (of_answers && shape == shapes[5])
                CHECK(shown(line(mark, shape)) == shown(plain));
            else
                CHECK_THROWS_WITH(parsed(line(mark, shape)),
                                  contains("line 1: " + mark[0].dump() + " changes what is learned, and ",
                                           " is not read: leave out the "));
        }
        for (const json& mark : kept) CHECK(shown(line(mark, shape)) == shown(plain));
    }
}

TEST_CASE("documents: marks and shapes of the reference table", "[data]") {
    const auto table = json::parse(read_file(tests_path("reference/training_lines.json")));
    for (const json& row : table.at("marks")) {
        json line = {{"messages", {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", "b"}}}}};
        json& place = row.at("where") == "line" ? line : line["messages"][1];
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
    for (const json& row : table.at("shapes")) CHECK(shown(row.at("line").dump()) == shapes.at(row.at("inkling")));
}
