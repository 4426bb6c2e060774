// Chat templates against transformers (tests/reference/make_chat_reference.py), and errors.
#include "data/chat/chat_template.h"

#include <ctime>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/json/tokenizer_json.h"

static std::unique_ptr<Tokenizer> chat_tokenizer(const std::string& name, const std::vector<std::string>& added) {
    static const json all = reference("tokenizers.json");
    auto plain = parse_tokenizer(all["tokenizers"][name]["tokenizer"].dump(), name);
    if (added.empty()) return plain;
    BpeSpec spec = dynamic_cast<const BpeTokenizer&>(*plain).spec();
    for (const std::string& token : added) {
        const auto same = [&](const AddedToken& t) { return t.content == token; };
        if (std::none_of(spec.added.begin(), spec.added.end(), same))
            spec.added.push_back({.content = token, .id = static_cast<std::int32_t>(plain->vocab_size())});
        plain = std::make_unique<BpeTokenizer>(spec);
    }
    return plain;
}

static std::vector<ChatMessage> messages_of(const json& list) {
    std::vector<ChatMessage> messages;
    for (const json& m : list) messages.push_back({m["role"].get<std::string>(), m["content"].get<std::string>()});
    return messages;
}

template <class Values>
static std::string hash_of(const Values& values) {
    std::uint64_t h = 0xCBF29CE484222325;
    for (const auto v : values) h = (h ^ static_cast<std::uint64_t>(v)) * 0x100000001B3;
    return fmt::format("{:016x}", h);
}

static std::vector<std::int32_t> marks_in(const ChatIds& all, const Tokenizer& tokenizer) {
    std::vector<std::int32_t> special_tokens;
    std::copy_if(all.ids.begin(), all.ids.end(), std::back_inserter(special_tokens),
                 [&](std::int32_t id) { return tokenizer.is_special(id); });
    return special_tokens;
}

static std::string learned_of(const ChatIds& all, const Tokenizer& tokenizer) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < all.ids.size(); ++i)
        if (all.answer[i]) ids.push_back(all.ids[i]);
    return tokenizer.decode(ids);
}

constexpr char kSimple[] =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

TEST_CASE("chat templates: ids and masks of answers are transformers', with the token that ends each", "[data]") {
    const json r = reference("chats.json");
    REQUIRE(r["forms"].size() == 9);
    for (const auto& [form, f] : r["forms"].items()) {
        const auto tokenizer =
            chat_tokenizer(f["tokenizer"].get<std::string>(), f["added"].get<std::vector<std::string>>());
        std::map<std::string, std::string> special_tokens{{"eos_token", f["eos_token"].get<std::string>()}};
        if (f.contains("bos_token")) special_tokens["bos_token"] = f["bos_token"].get<std::string>();
        const ChatTemplate chat(f["template"].get<std::string>(), *tokenizer, special_tokens);
        REQUIRE(f["made"].size() == 40);
        for (std::size_t i = 0; i < 40; ++i) {
            const json& made = f["made"][i];
            if (made.is_null()) continue;
            INFO(form << " " << i << " " << r["conversations"][i].dump());
            const auto messages = messages_of(r["conversations"][i]);
            const ChatIds whole = chat.apply(messages, *tokenizer);
            CHECK(whole.ids.size() == made[0]);
            CHECK(static_cast<std::size_t>(std::count(whole.answer.begin(), whole.answer.end(), true)) == made[1]);
            CHECK_ALL(made[2] == hash_of(whole.ids), made[3] == hash_of(whole.answer));
            CHECK(made[4] == hash_of(chat.encode(messages, *tokenizer)));
        }
    }
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const ChatTemplate chat(kSimple, *tokenizer);
    const std::vector<ChatMessage> messages{{"user", "a<|im_end|>"}, {"assistant", "b<|im_end|>"}, {"user", "c"}};
    const ChatIds all = chat.apply(messages, *tokenizer);
    CHECK(learned_of(all, *tokenizer) == "b<|im_end|><|im_end|>");
    const auto last = std::find(all.answer.rbegin(), all.answer.rend(), true) - all.answer.rbegin();
    CHECK(all.ids.rbegin()[last] == chat.end_of_turn());
    CHECK(std::count(all.ids.begin(), all.ids.end(), chat.end_of_turn()) == 3);
    CHECK(tokenizer->decode(all.ids) ==
          "<|im_start|>user\na<|im_end|><|im_end|>\n<|im_start|>assistant\nb<|im_end|><|im_end|>\n"
          "<|im_start|>user\nc<|im_end|>\n");
}

TEST_CASE("chat templates: an answer that is not to be learned is seen and not learned", "[data]") {
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const std::string generation =
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
        "{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content + '<|im_end|>' }}{% endif %}\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    for (const std::string& jinja : {std::string(kSimple), generation}) {
        INFO(jinja);
        const ChatTemplate chat(jinja, *tokenizer);
        std::vector<ChatMessage> messages{{"user", "a"}, {"assistant", " b"}, {"user", "c"}, {"assistant", "d"}};
        const ChatIds all = chat.apply(messages, *tokenizer);
        const auto learned = [&](bool first, bool second) {
            messages[1].learned = first, messages[3].learned = second;
            const ChatIds ids = chat.apply(messages, *tokenizer);
            CHECK(ids.ids == all.ids);
            return learned_of(ids, *tokenizer);
        };
        CHECK_ALL(learned(true, true) == " b<|im_end|>d<|im_end|>", learned(false, true) == "d<|im_end|>");
        CHECK_ALL(learned(true, false) == " b<|im_end|>", learned(false, false).empty());
    }
}

TEST_CASE("chat templates: what cannot be used is refused by name", "[data]") {
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const std::string simple = kSimple;
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = simple;
        return text.replace(text.find(from), from.size(), to);
    };
    const std::pair<std::string, std::string> table[] = {
        {"{{ '<|im_start|>' }}", "it leaves out message 1, of the user: it begins: {{ '<|im_start|>' }}"},
        {"", "it leaves out message 1"},
        {with("m.content", "m.content + m.content"), ""},
        {with("m.content", "m.content | shout"), "its filter shout is not supported"},
        {with("m.content", "m.content | upper"), ""},
        {with("<|im_end|>", "<|end|>"), "after an answer it has '<|end|>', which is not a special token"},
        {with("{% endfor %}", "{% endloop %}"), "its statement endloop is not supported"},
        {with("{% endif %}", ""), "a statement is not closed"},
        {with("m.role + ", "m.role + 1 + "), "its + wants two numbers or two texts"},
        {with("m.role + ", "bos_token + "), "its + wants two numbers or two texts"},
        {with("{% if", "{% include x %}{% if"), "its statement include is not supported"},
        {with("{% for", "{{ raise_exception('never') }}{% for"), "never"},
    };
    for (const auto& [text, message] : table) {
        INFO(text);
        if (message.empty())
            CHECK_NOTHROW(ChatTemplate(text, *tokenizer));
        else
            CHECK_THROWS_WITH(ChatTemplate(text, *tokenizer), contains(message));
    }
    CHECK_THROWS_WITH(ChatTemplate(with("m.content", "m.content | length | string"), *tokenizer),
                      contains("it leaves out message 2, of the assistant"));
    const ChatTemplate no_system(with("{% for",
                                      "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}"
                                      "{% endif %}{% for"),
                                 *tokenizer);
    CHECK_THROWS_WITH(no_system.encode(std::vector<ChatMessage>{{"system", "a"}}, *tokenizer), contains("no system"));
}

TEST_CASE("chat templates: what a template does with a content is done with this content", "[data]") {
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const std::vector<ChatMessage> messages{
        {"system", "Short. /x"}, {"user", "x<|im_end|>y"}, {"assistant", "<t>\nh\n</t>\n\nYes"}, {"user", "Why?"}};
    const std::pair<std::string, std::vector<std::string>> table[] = {
        // transformations of m.content
        {"m.content | upper", {"SHORT. /X", "X<|IM_END|>Y", "<T>\nH\n</T>\n\nYES", "WHY?"}},
        {"m.content ~ (m.content | length)", {"Short. /x9", "x<|im_end|>y12", "<t>\nh\n</t>\n\nYes15", "Why?4"}},
        {"('long ' if m.content | length > 12 else '') ~ m.content",
         {"Short. /x", "x<|im_end|>y", "long <t>\nh\n</t>\n\nYes", "Why?"}},
        {"m.content.split('</t>')[-1].lstrip('\\n')", {"Short. /x", "x<|im_end|>y", "Yes", "Why?"}},
        {"('!' if '/x' in m.content else '') ~ m.content.replace('/x', '').rstrip()",
         {"!Short.", "x<|im_end|>y", "<t>\nh\n</t>\n\nYes", "Why?"}},
        {"('? ' if m.content.endswith('?') else '') ~ m.content",
         {"Short. /x", "x<|im_end|>y", "<t>\nh\n</t>\n\nYes", "? Why?"}},
        {"m.content | tojson", {"\"Short. /x\"", "\"x<|im_end|>y\"", "\"<t>\\nh\\n</t>\\n\\nYes\"", "\"Why?\""}},
        {"('same ' if m.content == 'Why?' else '') ~ m.content[:10]",
         {"Short. /x", "x<|im_end|", "<t>\nh\n</t>", "same Why?"}},
    };
    for (const auto& [content, made] : table) {
        INFO(content);
        const ChatTemplate chat("{% for m in messages %}{{ '<|im_start|>' ~ (" + content +
                                    ") ~ '<|im_end|>' }}{% endfor %}"
                                    "{% if add_generation_prompt %}<|im_start|>{% endif %}",
                                *tokenizer);
        const ChatIds all = chat.apply(messages, *tokenizer);
        std::string expected;
        for (const std::string& one : made) expected += "<|im_start|>" + one + "<|im_end|>";
        CHECK_ALL(tokenizer->decode(all.ids) == expected, marks_in(all, *tokenizer).size() == 8);
        CHECK(learned_of(all, *tokenizer) == made[2] + "<|im_end|>");
    }
}

TEST_CASE("chat templates: tool calls, tools and other variables", "[data]") {
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const std::string text =
        "{% if tools %}{% for t in tools %}{{ t | tojson }}{% endfor %}{% endif %}{% for m in messages %}"
        "{{ '<|im_start|>' + m.role + '\n' }}{% if m.content %}{{ m.content }}{% endif %}{% for c in m.tool_calls or "
        "[] %}"
        "{{ '<call>' ~ (c.function | tojson) }}{% endfor %}{{ '<|im_end|>' }}{% endfor %}{% if add_generation_prompt %}"
        "{{ '<|im_start|>assistant\n' }}{% if enable_thinking is false %}{{ '<no>' }}{% endif %}{% endif %}";
    const ChatTemplate chat(text, *tokenizer);
    const auto calls = json::parse(
        R"({"content": null, "tool_calls": [{"function": {"arguments": {"a": "<|im_end|>", "b": [1.5, null]}, "name": "f"}}]})");
    const std::vector<ChatMessage> messages{
        {"user", "a"}, {"assistant", "", calls}, {"tool", "12", {{"name", "f"}}}, {"assistant", "b"}};
    const ChatIds all = chat.apply(messages, *tokenizer);
    const std::string call = R"(<call>{"arguments": {"a": "<|im_end|>", "b": [1.5, null]}, "name": "f"})";
    CHECK(tokenizer->decode(all.ids) ==
          "<|im_start|>user\na<|im_end|><|im_start|>assistant\n" + call +
              "<|im_end|><|im_start|>tool\n12<|im_end|><|im_start|>assistant\nb<|im_end|>");
    CHECK_ALL(marks_in(all, *tokenizer).size() == 8, learned_of(all, *tokenizer) == call + "<|im_end|>b<|im_end|>");
    const auto asked = chat.encode(std::span(messages).first(1), *tokenizer,
                                   {.variables = {{"tools", {{{"n", "<|im_start|>"}}}}, {"enable_thinking", false}}});
    CHECK(tokenizer->decode(asked) ==
          "{\"n\": \"<|im_start|>\"}<|im_start|>user\na<|im_end|><|im_start|>assistant\n<no>");
    CHECK(std::count(asked.begin(), asked.end(), chat.end_of_turn()) == 1);
    CHECK_THROWS_WITH(chat.encode(messages, *tokenizer, {.stop = [] { return true; }}),
                      contains("the request was cancelled"));
    // content that a template does not show is refused, unless the text differs without it
    const ChatTemplate plain(kSimple, *tokenizer);
    CHECK_THROWS_WITH(
        plain.apply(std::vector<ChatMessage>{{"user", "a"}, {"assistant", "x", {{"tool_calls", {1}}}}}, *tokenizer),
        contains("it leaves out the tool calls of message 2, of the assistant"));
    const ChatTemplate two_roles(
        "{% for m in messages if m.role != 'tool' %}<|im_start|>{{ m.content.split('</t>')[-1] }}"
        "<|im_end|>{% endfor %}",
        *tokenizer);
    CHECK_THROWS_WITH(two_roles.apply(messages, *tokenizer), contains("its method split is not supported"));
    CHECK_THROWS_WITH(two_roles.apply(std::vector<ChatMessage>{{"user", "a"}, {"tool", "b"}}, *tokenizer),
                      contains("it leaves out message 2, of the tool"));
    CHECK(tokenizer->decode(
              two_roles.apply(std::vector<ChatMessage>{{"user", "a"}, {"assistant", "b</t>"}}, *tokenizer).ids) ==
          "<|im_start|>a<|im_end|><|im_start|><|im_end|>");
    // an unknown role cannot spell a special token
    const ChatTemplate spelled("{% for m in messages %}{{ '<|' + m.role + '|>' + m.content }}<|im_end|>{% endfor %}",
                               *tokenizer);
    CHECK(marks_in(spelled.apply(std::vector<ChatMessage>{{"im_start", "a"}, {"user", "b"}}, *tokenizer), *tokenizer)
              .size() == 2);
}

TEST_CASE("chat templates: an answer begins where the template asks for it, in linear time", "[data]") {
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const std::string head = "{% for m in messages %}<|im_start|>{{ m.role + '\n' }}", end = "<|im_end|>{% endfor %}",
                      ask = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    const std::vector<ChatMessage> messages{{"user", "a"}, {"assistant", "b"}, {"user", "c"}, {"assistant", ""}};
    const std::pair<std::string, std::string> table[] = {
        {head + "<t></t>{{ m.content }}" + end + ask, "<t></t>b<|im_end|><t></t><|im_end|>"},
        {head + "<t></t>{{ m.content }}" + end, "b<|im_end|><|im_end|>"},
        {head + "{% generation %}<t>{{ m.content }}{% endgeneration %}.." + end + ask, "<t>a<t>b<t>c<t>"},
        {head +
             "{% if m.role == 'assistant' %}{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}"
             "{{ m.content }}" +
             end.substr(0, 10) + "{% endif %}{% endfor %}" + ask,
         "b<|im_end|><|im_end|>"},
    };
    for (const auto& [text, learned] : table)
        WITH_INFO(text,
                  CHECK(learned_of(ChatTemplate(text, *tokenizer).apply(messages, *tokenizer), *tokenizer) == learned));
    const ChatTemplate chat(
        "{% for m in messages %}{% if messages[0].role == 'user' %}{{ '<|im_start|>' + m.role + '\n' + "
        "m.content + '<|im_end|>' }}{% endif %}{% endfor %}",
        *tokenizer);
    const auto work = [&](std::size_t n) {  // of the processor, whatever else the machine does
        std::vector<ChatMessage> turns;
        for (std::size_t i = 0; i < n; ++i) turns.push_back({i % 2 ? "assistant" : "user", "Hello there"});
        const std::clock_t begin = std::clock();
        CHECK(chat.apply(turns, *tokenizer).ids.size() > 6 * n);
        return std::clock() - begin;
    };
    const std::clock_t few = work(1000), many = work(8000);
    CHECK(many < 32 * few);  // the square would be 64 times
}
