// Valid and invalid requests for text.
#include "web/api/text_request.h"

#include "formats/json_object.h"

// The field that an error names, and the rest of its message.
static std::pair<std::string, std::string> refused_field(const std::string& body, bool chat = false) {
    try {
        if (chat) {
            parse_chat(body, {.max_tokens = 100, .max_texts = 8});
        } else {
            parse_completion(body, {.max_tokens = 100, .max_texts = 8});
        }
    } catch (const formats::BadKey& e) {
        return {e.key, e.what()};
    } catch (const BadInput& e) {
        return {"", e.what()};
    }
    return {"accepted", ""};
}

static json fields(const char* name) { return json_in(tests_path("web/request_fields.json"))[name]; }

TEST_CASE("requests: the fields of a completion", "[serve]") {
    const auto r = parse_completion(R"({"model": "m", "prompt": "a", "max_tokens": 0, "temperature": 0.5, "top_p": 0.25,
        "top_k": 7, "min_p": 0.125, "n": 3, "stream": true, "stream_options": {"include_usage": true}, "logprobs": 5,
        "echo": true, "stop": ["x", "y"], "seed": 9007199254740991, "presence_penalty": -2, "frequency_penalty": 2,
        "repeat_penalty": 1.5, "logit_bias": {"3": -100, "4": 0.5}, "best_of": 3, "user": "me", "suffix": null,
        "truncate_prompt_tokens": -1})",
                                    {});
    CHECK_ALL(r.model == "m", std::get<std::string>(r.prompts.at(0)) == "a", r.max_tokens.value() == 0);
    CHECK_ALL(r.options.temperature == 0.5, r.options.top_p == 0.25, r.options.top_k == 7, r.options.min_p == 0.125);
    CHECK_ALL(r.n == 3, r.stream, r.include_usage, r.echo, r.options.logprobs.value() == 5, r.options.prompt_logprobs);
    CHECK(r.options.stop == std::vector<std::string>{"x", "y"});
    CHECK_ALL(r.options.seed == 9007199254740991, r.options.presence_penalty == -2, r.options.frequency_penalty == 2);
    CHECK(r.options.repeat_penalty == 1.5);
    CHECK(r.options.logit_bias == std::map<std::int32_t, double>{{3, -100}, {4, 0.5}});
    CHECK(r.truncate_prompt == -1);
    const auto plain = parse_completion("{}", {});
    CHECK_ALL(std::get<std::string>(plain.prompts.at(0)).empty(), plain.options.temperature == 1);
    CHECK_ALL(plain.options.top_p == 1, plain.options.top_k == 0, !plain.max_tokens, !plain.options.logprobs);
    CHECK(parse_completion("{}", {}).options.seed != plain.options.seed);
    CHECK(
        parse_completion(R"({"top_k": -1, "stop": "x", "repetition_penalty": 2, "stream": null})", {}).options.top_k ==
        0);
}

TEST_CASE("requests: prompts, and a seed that is shown can be asked for", "[serve]") {
    using Ids = std::vector<std::int32_t>;
    const auto prompts = [](const std::string& prompt) {
        return parse_completion("{\"prompt\":" + prompt + "}", {}).prompts;
    };
    CHECK(prompts(R"(["a", ""])") == std::vector<web::Prompt>{"a", ""});
    CHECK(prompts("[1, 2]") == std::vector<web::Prompt>{Ids{1, 2}});
    CHECK(prompts("[[1], [2, 3]]") == std::vector<web::Prompt>{Ids{1}, Ids{2, 3}});
    for (const char* bad :
         {"[]", "7", "true", "{}", "[1, \"a\"]", "[[1], \"a\"]", "[[]]", "[[1], []]", "[-1]", "[1.5]", "[2147483648]",
          "[[1, null]]", "[null]", "[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]"}) {
        INFO(bad);
        CHECK(refused_field("{\"prompt\":" + std::string(bad) + "}").first == "prompt");
    }
    std::set<std::uint64_t> seeds;
    for (int i = 0; i < 64; ++i) {
        const auto seed = parse_completion(i % 2 == 0 ? "{}" : "{\"seed\": -1}", {}).options.seed;
        CHECK_ALL(seeds.insert(seed).second, seed < std::uint64_t{1} << 53);
        const auto as_double = static_cast<double>(seed);  // what JavaScript has of it
        CHECK(parse_completion(fmt::format("{{\"seed\": {:.0f}}}", as_double), {}).options.seed == seed);
        CHECK(parse_chat(fmt::format(R"({{"messages": [{{"role": "user", "content": ""}}], "seed": {}}})", seed), {})
                  .options.seed == seed);
    }
    CHECK(parse_completion("{\"seed\": 0}", {}).options.seed == 0);
}

TEST_CASE("requests: a refusal names the field", "[serve]") {
    auto refused = fields("refused");
    nlohmann::json many_biases;
    for (int i = 0; i < 1025; ++i) many_biases[std::to_string(i)] = 1;
    refused["logit_bias"].push_back(many_biases), refused["stop"].push_back(std::string(1001, 'a'));
    for (const auto& [name, values] : refused.items())
        for (const auto& value : values) {
            INFO(name << ": " << value.dump().substr(0, 40));
            const auto [param, message] =
                refused_field(fmt::format(R"({{"prompt": "a", "{}": {}}})", name, value.dump()));
            CHECK_ALL(param == name, (message.starts_with(name + ": ") || message.starts_with(name + " must be ")));
        }
    CHECK(refused_field(R"({"top_k": 99999999999999999999})").first == "top_k");
    const auto streamed = [](const char* options) {
        return refused_field(fmt::format(R"({{"stream": true, "stream_options": {}}})", options)).first;
    };
    CHECK(streamed(R"({"include_usage": 1})") == "stream_options.include_usage");
    CHECK(streamed(R"({"more": 1})") == "stream_options.more");
    for (const json accepted = fields("accepted"); const auto& [name, values] : accepted.items())
        for (const auto& value : values)
            WITH_INFO(name << ": " << value,
                      CHECK(refused_field(fmt::format(R"({{"{}": {}}})", name, value.dump())).first == "accepted"));
    for (const char* both : {R"({"n": 2, "best_of": 2})", R"({"mirostat": 0, "mirostat_tau": 5})"})
        CHECK(refused_field(both).first == "accepted");
    const std::string long_name(5000, 'x');
    CHECK(refused_field("{\"" + long_name + "\": 1}").second.size() < 300);
}

TEST_CASE("requests: bodies that are no JSON object", "[serve]") {
    std::string deep = "{\"prompt\":" + std::string(100000, '[');
    for (const std::string& body :
         {std::string(""), std::string("null"), std::string("[]"), std::string("\"a\""), deep, std::string("{"),
          std::string("{}x"), std::string("{\"a\":1,\"a\":2}"), std::string("{\"prompt\":\"\xFF\"}"),
          std::string("{'prompt':1}"), std::string("{}\0", 3)}) {
        INFO(body.substr(0, 40));
        const auto [param, message] = refused_field(body);
        CHECK_ALL(param.empty(), message.starts_with("the body"));
    }
    // Values that Python writes but JSON lacks are errors that name the field.
    CHECK(refused_field("{\"temperature\":1e999}").first == "temperature");
    CHECK(refused_field("{\"temperature\":NaN}").first == "temperature");
    const auto lone = [](const std::string& rest, bool chat = false) {
        const auto [field, message] =
            refused_field(chat ? R"({"messages": [{"role": "user", )" + rest + "}]}" : "{" + rest + "}", chat);
        CHECK_THAT(message, contains(field + ": the text has half of a surrogate pair"));
        return field;
    };
    CHECK(lone(R"("prompt": "\ud800")") == "prompt");
    CHECK(lone(R"("prompt": ["a", "b\udc00"])") == "prompt");
    CHECK(lone(R"("prompt": "a", "stop": ["\udfff"])") == "stop");
    CHECK(lone(R"("model": "\ud800a")") == "model");
    CHECK(lone(R"("content": "a\ud83d")", true) == "messages[0].content");
    CHECK(lone(R"("content": [{"type": "text", "text": "\ud800"}])", true) == "messages.content.text");
    CHECK(refused_field(R"({"prompt": "\ud83d\ude00"})").first == "accepted");  // a whole pair
}

TEST_CASE("requests: the fields of a chat", "[serve]") {
    const auto r = parse_chat(R"({"messages": [{"role": "developer", "content": "a"}, {"role": "user", "content":
        [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]}, {"role": "assistant", "content": "", "tool_calls":
        [], "refusal": null}], "logprobs": true, "top_logprobs": 2, "max_completion_tokens": 9, "tools": [],
        "tool_choice": "auto", "response_format": {"type": "text"}, "modalities": ["text"], "store": false})",
                              {});
    REQUIRE(r.messages.size() == 3);
    CHECK_ALL(r.messages[0].role == "system", r.messages[1].content == "bc", r.options.logprobs.value() == 2);
    CHECK(r.max_tokens.value() == 9);
    const auto chat = [](const std::string& rest) {
        return refused_field(R"({"messages": [{"role": "user", "content": "a"}])" + rest + "}", true).first;
    };
    CHECK(chat("") == "accepted");
    for (const char* fine : {R"(, "top_logprobs": 0)", R"(, "chat_template_kwargs": {})",
                             R"(, "chat_template_kwargs": {"enable_thinking": false})", R"(, "best_of": 1)",
                             R"(, "tools": [{"type": "function"}], "tool_choice": "none")",
                             R"(, "functions": [{"name": "a"}], "function_call": "none")", R"(, "echo": false)",
                             R"(, "add_special_tokens": false)", R"(, "documents": [])", R"(, "max_tokens": 100000)"}) {
        INFO(fine);
        CHECK(chat(fine) == "accepted");
    }
    CHECK(chat(R"(, "tools": [{"type": "function"}], "tool_choice": "auto")") == "tools");
    const auto refused = nlohmann::json::parse(R"({"functions": [{"name": "a"}], "chat_template_kwargs": [],
        "add_special_tokens": true, "top_logprobs": 2, "logprobs": 2, "tools": [{"type": "function"}],
        "tool_choice": "required", "response_format": {"type": "json_object"}, "modalities": ["text", "audio"],
        "echo": true, "prompt": "a"})");
    for (const auto& [name, value] : refused.items())
        CHECK(chat(fmt::format(R"(, "{}": {})", name, value.dump())) == name);
    const auto messages = [](const std::string& list) {
        return refused_field("{\"messages\": " + list + "}", true).first;
    };
    CHECK_ALL(messages("[]") == "messages", messages("\"a\"") == "messages", messages("null") == "messages");
    CHECK_FALSE(messages("[5]") == "accepted");
    CHECK(messages(R"([{"role": "user"}])") == "messages[0].content");
    CHECK(messages(R"([{"role": "user", "content": 5}])") == "messages[0].content");
    CHECK(messages(R"([{"role": "user", "content": null}])") == "messages[0].content");
    CHECK(messages(R"([{"role": "tool"}])") == "messages[0].content");
    CHECK(messages(R"([{"role": "user", "content": "a"}, {"role": "critic", "content": "a"}])") == "messages[1].role");
    CHECK(messages(R"([{"role": "user", "content": "a", "name": 5}])") == "messages[0].name");
    CHECK(messages(R"([{"role": "user", "content": "a", "tool_calls": [{}]}])") == "messages[0].tool_calls");
    for (const char* bad :
         {R"({"a": 1})", R"([1])", R"([{}])", R"([{"function": 1}])", R"([{"function": {"name": 1}}])"})
        CHECK(messages(fmt::format(R"([{{"role": "assistant", "content": null, "tool_calls": {}}}])", bad)) ==
              "messages[0].tool_calls");
    CHECK(messages(R"([{"content": "a"}])") == "messages[0].role");
    CHECK(messages(R"([{"role": "user", "content": "a", "weight": 1}])") == "messages[0].weight");
    CHECK(messages(R"([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])") ==
          "messages.content.type");
}

TEST_CASE("requests: a chat with names, and calls of tools that are past", "[serve]") {
    const auto r = parse_chat(R"({"messages": [{"role": "user", "content": "a", "name": "ann"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function":
        {"name": "add", "arguments": "{\"x\": 1}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "2"},
        {"role": "assistant", "content": null}]})",
                              {});
    REQUIRE(r.messages.size() == 4);
    CHECK(r.messages[0].more == nlohmann::json{{"name", "ann"}});
    CHECK(r.messages[1].content.empty());
    const nlohmann::json& more = r.messages[1].more;
    CHECK(more["content"].is_null());
    CHECK(more["tool_calls"][0]["function"]["arguments"] == nlohmann::json{{"x", 1}});
    CHECK(more["tool_calls"][0]["id"] == "1");
    CHECK(r.messages[2] == data::ChatMessage{"tool", "2", {{"tool_call_id", "1"}}});
    CHECK(r.messages[3].more == nlohmann::json{{"content", nullptr}});
}
