// Chat templates against transformers (tests/reference/make_chat_reference.py), and what is refused.
#include "models/chat_template.h"

#include "data/tokenizers/bpe_tokenizer.h"
#include "data/tokenizers/tokenizer_json.h"
#include "engine/check.h"
#include "tests/catch.h"
#include "tests/reference/read.h"

using namespace inkling;
using namespace inkling::models;
using nlohmann::json;

namespace {

std::unique_ptr<data::Tokenizer> chat_tokenizer(const std::string& name, const std::vector<std::string>& added) {
    static const json all = testing::reference("tokenizers.json");
    auto plain = data::parse_tokenizer(all["tokenizers"][name]["tokenizer"].dump(), name);
    if (added.empty()) return plain;
    data::BpeSpec spec = dynamic_cast<const data::BpeTokenizer&>(*plain).spec();
    for (const std::string& token : added) {
        const auto same = [&](const data::AddedToken& t) { return t.content == token; };
        if (std::none_of(spec.added.begin(), spec.added.end(), same))
            spec.added.push_back({.content = token, .id = static_cast<std::int32_t>(plain->vocab_size())});
        plain = std::make_unique<data::BpeTokenizer>(spec);
    }
    return plain;
}

std::vector<ChatMessage> messages_of(const json& list) {
    std::vector<ChatMessage> messages;
    for (const json& m : list) messages.push_back({m["role"].get<std::string>(), m["content"].get<std::string>()});
    return messages;
}

template <class Values>
std::string hash_of(const Values& values) {
    std::uint64_t h = 0xCBF29CE484222325;
    for (const auto v : values) h = (h ^ static_cast<std::uint64_t>(v)) * 0x100000001B3;
    return fmt::format("{:016x}", h);
}

constexpr char kSimple[] =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

}  // namespace

TEST_CASE("chat templates: ids and masks of answers are those of transformers", "[models]") {
    const json r = testing::reference("chats.json");
    REQUIRE(r["forms"].size() == 8);
    for (const auto& [form, f] : r["forms"].items()) {
        const auto tokenizer =
            chat_tokenizer(f["tokenizer"].get<std::string>(), f["added"].get<std::vector<std::string>>());
        std::map<std::string, std::string> marks{{"eos_token", f["eos_token"].get<std::string>()}};
        if (f.contains("bos_token")) marks["bos_token"] = f["bos_token"].get<std::string>();
        const ChatTemplate chat(f["template"].get<std::string>(), *tokenizer, marks);
        REQUIRE(f["made"].size() == 40);
        for (std::size_t i = 0; i < 40; ++i) {
            const json& made = f["made"][i];
            if (made.is_null()) continue;
            INFO(form << " " << i << " " << r["conversations"][i].dump());
            const auto messages = messages_of(r["conversations"][i]);
            const ChatIds whole = chat.apply(messages, *tokenizer);
            CHECK(whole.ids.size() == made[0]);
            CHECK(static_cast<std::size_t>(std::count(whole.answer.begin(), whole.answer.end(), true)) == made[1]);
            CHECK(made[2] == hash_of(whole.ids));
            CHECK(made[3] == hash_of(whole.answer));
            CHECK(made[4] == hash_of(chat.encode(messages, *tokenizer)));
        }
    }
}

TEST_CASE("chat templates: an answer is what is said and the token that ends it", "[models]") {
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const ChatTemplate chat(kSimple, *tokenizer);
    const std::vector<ChatMessage> messages{{"user", "a<|im_end|>"}, {"assistant", "b<|im_end|>"}, {"user", "c"}};
    const ChatIds all = chat.apply(messages, *tokenizer);
    std::vector<std::int32_t> answer;
    for (std::size_t i = 0; i < all.ids.size(); ++i)
        if (all.answer[i]) answer.push_back(all.ids[i]);
    CHECK(tokenizer->decode(answer) == "b<|im_end|><|im_end|>");
    CHECK(answer.back() == chat.end_of_turn());
    CHECK(std::count(all.ids.begin(), all.ids.end(), chat.end_of_turn()) == 3);
    CHECK(tokenizer->decode(all.ids) ==
          "<|im_start|>user\na<|im_end|><|im_end|>\n<|im_start|>assistant\nb<|im_end|><|im_end|>\n"
          "<|im_start|>user\nc<|im_end|>\n");
}

TEST_CASE("chat templates: what cannot be used is refused by name", "[models]") {
    const auto tokenizer = chat_tokenizer("smollm", {"<|im_start|>", "<|im_end|>"});
    const std::string simple = kSimple;
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = simple;
        return text.replace(text.find(from), from.size(), to);
    };
    const std::pair<std::string, std::string> table[] = {
        {"{{ '<|im_start|>' }}", "it leaves out message 1, of the user: it begins: {{ '<|im_start|>' }}"},
        {with("m.content", "m.content + m.content"), "it repeats message 1"},
        {with("m.content", "m.content | shout"), "its filter shout is not known"},
        {with("m.content", "m.content | upper"), ""},
        {with("<|im_end|>", "<|end|>"), "behind an answer it has '<|end|>', which is no special token"},
        {with("{% endfor %}", "{% endloop %}"), "its statement endloop is not known"},
        {with("{% endif %}", ""), "a statement without its end"},
        {with("m.role + ", "m.role + 1 + "), "adds what is neither text nor number"},
        {with("m.role + ", "bos_token + "), "adds what is neither"},
        {with("{% if", "{% macro x() %}{% if"), "its statement macro is not known"},
        {with("{% for", "{{ raise_exception('never') }}{% for"), "never"},
    };
    for (const auto& [text, message] : table) {
        INFO(text);
        if (message.empty())
            CHECK_NOTHROW(ChatTemplate(text, *tokenizer));
        else
            CHECK_THROWS_WITH(ChatTemplate(text, *tokenizer), ContainsSubstring(message));
    }
    const ChatTemplate no_system(with("{% for",
                                      "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}"
                                      "{% endif %}{% for"),
                                 *tokenizer);
    CHECK_THROWS_WITH(no_system.encode(std::vector<ChatMessage>{{"system", "a"}}, *tokenizer),
                      ContainsSubstring("no system"));
}
