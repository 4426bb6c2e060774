// Chats over HTTP, and the template of a folder.
#include "data/chat/chat_template.h"

#include "tests/web/served.h"

namespace {

struct ServedChat : ChatFolder, Served {
    explicit ServedChat(const std::string& chat_template = kChatMl)
        : ChatFolder(chat_template), Served(kSmallServer, scratch.path()) {}
    Answer chat(json body) {
        if (!body.contains("messages")) body["messages"] = {{{"role", "user"}, {"content", "One day"}}};
        return post(port(), "/v1/chat/completions", body);
    }
};

}  // namespace

TEST_CASE("chat: which of a folder's templates is its own", "[serve]") {
    const ChatFolder folder;
    const auto load = [&] { return ChatTemplate::of(*models::open_tokenizer(folder.scratch.path())); };
    const auto plain = models::open_tokenizer(tests_path("reference/greedy_gpt2"));
    CHECK_THROWS_WITH(ChatTemplate::of(*plain), contains("no chat template"));
    folder.scratch.write("chat_template.jinja", "{{ other }}");  // comes before tokenizer_config.json's
    CHECK_THROWS_WITH(load(), contains("{{ other }}"));
    std::filesystem::remove(folder.scratch.path("chat_template.jinja"));
    const auto write_named = [&](const char* first, const char* second) {
        const json list = {{{"name", first}, {"template", "x"}}, {{"name", second}, {"template", kChatMl}}};
        folder.scratch.write("tokenizer_config.json", json{{"chat_template", list}}.dump());
    };
    write_named("tools", "default");
    CHECK(load().end_of_turn() == 812);
    // templates without a default: the model completes texts, and is not taken for one without a template
    write_named("rag", "tool_use");
    const std::string named = "the model has chat templates named rag, tool_use, and none is its default";
    CHECK_THROWS_WITH(load(), contains(named));
    const auto loaded = models::load_model(folder.scratch.path());
    CHECK_THROWS_WITH(ChatTemplate::of(*loaded.tokenizer), contains(named));
    const testing::ScratchFolder saved;
    models::save_tokenizer(saved.path(), loaded.model->config, *loaded.tokenizer);
    CHECK_FALSE(json::parse(formats::read_file(saved.path("tokenizer_config.json"))).contains("chat_template"));
}

TEST_CASE("chat: the answer is OpenAI's, whole and as a stream", "[serve]") {
    ServedChat served;
    json asked = {{"seed", 4}, {"max_tokens", 20}, {"logprobs", true}, {"top_logprobs", 2}, {"n", 2}};
    const Answer a = served.chat(asked);
    INFO(a.body);
    REQUIRE(a.status == 200);
    const json whole = a.json();
    CHECK(whole["object"] == "chat.completion");
    REQUIRE(whole["choices"].size() == 2);
    const json& first = whole["choices"][0];
    CHECK(first["message"]["role"] == "assistant");
    const json& content = first["logprobs"]["content"];
    REQUIRE(content.size() == 20);
    CHECK(content[0]["top_logprobs"].size() == 2);
    CHECK(content[0]["logprob"] <= content[0]["top_logprobs"][0]["logprob"]);
    std::string bytes;
    for (const json& token : content)
        for (const json& byte : token["bytes"]) bytes += static_cast<char>(byte.get<int>());
    CHECK(first["message"]["content"] == generate::to_valid_utf8(bytes));
    asked["stream"] = true;
    std::vector<std::string> texts(2), finish(2);
    std::vector<int> roles(2);
    for (const json& chunk : events(served.chat(asked))) {
        CHECK(chunk["object"] == "chat.completion.chunk");
        const json& choice = chunk["choices"][0];
        const auto i = choice["index"].get<std::size_t>();
        texts[i] += choice["delta"].value("content", "");
        roles[i] += choice["delta"].contains("role");
        if (!choice["finish_reason"].is_null()) finish[i] = choice["finish_reason"].get<std::string>();
    }
    for (const std::size_t i : {0u, 1u})
        CHECK_ALL(whole["choices"][i]["message"]["content"] == texts[i], roles[i] == 1, finish[i] == "length");
}

TEST_CASE("chat: the template reads names, null contents and variables, and where it takes no null", "[serve]") {
    const std::string reads =
        "{% for m in messages %}<|im_start|>{{ m.role }}{% if m.name %} {{ m.name }}{% endif %}\n"
        "{{ m.content if m.content is not none else '-' }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{{ mood }}{% endif %}";
    ServedChat served(reads), plain;
    const auto tokens = [](ServedChat& of, json messages, const json& variables = json::object()) {
        const Answer a = of.chat({{"messages", messages}, {"max_tokens", 1}, {"chat_template_kwargs", variables}});
        INFO(a.body);
        REQUIRE(a.status == 200);
        return a.json()["usage"]["prompt_tokens"].get<int>();
    };
    const json user = {{"role", "user"}, {"content", "One day"}},
               named = {{"role", "user"}, {"content", "One day"}, {"name", "ann"}},
               none = {{"role", "assistant"}, {"content", nullptr}}, dash = {{"role", "assistant"}, {"content", "-"}};
    CHECK(tokens(served, json::array({named})) > tokens(served, json::array({user})));
    CHECK(tokens(plain, json::array({named})) == tokens(plain, json::array({user})));
    CHECK(tokens(served, {user, none, user}) == tokens(served, {user, dash, user}));
    CHECK(tokens(served, json::array({user}), {{"mood", "glad"}}) > tokens(served, json::array({user})));
    CHECK(tokens(served, json::array({user}), {{"other", "glad"}}) == tokens(served, json::array({user})));
    ServedChat strict;
    const json asked = {{"role", "user"}, {"content", "One day"}};
    for (const json& silent : {json{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", json::array()}},
                               json{{"role", "assistant"}, {"content", nullptr}}, json{{"role", "assistant"}}}) {
        const Answer a = strict.chat({{"messages", {asked, silent, asked}}, {"max_tokens", 1}});
        check_refused(a, 400, "messages[1].content");
        CHECK_THAT(a.error(), contains("messages[1].content: null: "));
    }
    CHECK(strict.chat({{"messages", {asked, {{"role", "assistant"}, {"content", ""}}, asked}}, {"max_tokens", 1}})
              .status == 200);
}

TEST_CASE("chat: an answer goes on from where it stands", "[serve]") {
    ServedChat served;
    const auto tokenizer = models::open_tokenizer(served.scratch.path());
    json words = json::object();  // the text of other tokens may be parts of characters, which cannot be sent back
    for (const char* word : {" said", " you", " was", " the", " to"}) {
        REQUIRE(tokenizer->encode(word).size() == 1);
        words[std::to_string(tokenizer->encode(word)[0])] = 100;
    }
    const json question = {{"role", "user"}, {"content", "One day"}};
    json asked = {{"seed", 2}, {"max_tokens", 12}, {"messages", json::array({question})}, {"logit_bias", words}};
    asked["temperature"] = 0;
    const auto text_of = [&] {
        return served.chat(asked).json()["choices"][0]["message"]["content"].get<std::string>();
    };
    const std::string whole = text_of();
    asked["max_tokens"] = 5;
    const std::string first = text_of();
    REQUIRE(whole.starts_with(first));
    REQUIRE(first.size() < whole.size());
    const json answer = {{"role", "assistant"}, {"content", first}};
    asked["max_tokens"] = 7;
    asked["messages"] = json::array({question, answer});
    asked["continue_final_message"] = true;
    for (const bool said : {false, true}) {  // the generation prompt is left out, also where that is not said
        if (said) asked["add_generation_prompt"] = false;
        CHECK(first + text_of() == whole);
    }
    asked["add_generation_prompt"] = true;
    check_refused(served.chat(asked), 400, "add_generation_prompt");
    asked.erase("add_generation_prompt");
    asked["messages"] = json::array({question});
    check_refused(served.chat(asked), 400, "continue_final_message");
    asked["continue_final_message"] = false;
    asked["add_generation_prompt"] = false;
    check_refused(served.chat(asked), 400, "add_generation_prompt");
}

TEST_CASE("chat: the end of a turn ends the text and is no part of it", "[serve]") {
    ServedChat served;
    check_holds(served.chat({{"seed", 4}, {"logit_bias", {{"812", 100}}}}).json(), "/choices/0/message/content", "",
                "/choices/0/finish_reason", "stop", "/usage/completion_tokens", 0);
    const json all = served.chat({{"seed", 4}, {"logit_bias", {{"812", -100}}}}).json();  // what is left of the context
    CHECK(all["usage"]["total_tokens"] == 96);
    const json later = {{{"role", "user"}, {"content", std::string(500, 'a')}}};
    check_refused(served.chat({{"messages", later}}), 400, "context_length_exceeded");
    Served stories;
    check_refused(post(stories.port(), "/v1/chat/completions", {{"messages", later}}), 400, "no_chat_template");
}
