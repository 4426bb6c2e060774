// Conversations: the model's input, turn by turn.
#include "generate/conversation.h"

#include "tests/models/chat_folder.h"

namespace {

struct Talk {
    ChatFolder folder;
    LoadedModel loaded = load_model(folder.scratch.path());
    std::shared_ptr<const Tokenizer> tokenizer = std::move(loaded.tokenizer);
    std::shared_ptr<const InferenceModel> inference = std::make_shared<const InferenceModel>(*loaded.model);
    ChatTemplate form = ChatTemplate::of(*tokenizer);

    Talk(std::size_t context = 96) : folder(kChatMl, context) {}
    Conversation begin(std::size_t max_tokens, double temperature = 0) const {
        GenerateOptions options;
        options.max_tokens = max_tokens, options.temperature = temperature;
        return {inference, tokenizer, form, options};
    }
};

std::string answer_of(Conversation& talk, const std::string& text) {
    talk.ask(text);
    std::string all;
    while (!talk.finished()) all += talk.next();
    CHECK(talk.messages().back() == ChatMessage{"assistant", all});
    return all;
}

std::vector<std::int32_t> all_tokens(const Conversation& talk) {
    return {talk.text().tokens().begin(), talk.text().tokens().end()};
}

}  // namespace

TEST_CASE("conversation: the model sees what was said before", "[generate]") {
    const Talk t;
    Conversation talk = t.begin(6);
    talk.set_system("Be short.");
    const std::string first = answer_of(talk, "One day"), second = answer_of(talk, "And then?");
    CHECK(talk.text().generated().size() == 6);
    const std::vector<ChatMessage> said{
        {"system", "Be short."}, {"user", "One day"}, {"assistant", first}, {"user", "And then?"}};
    std::vector<std::int32_t> seen = t.form.encode(said, *t.tokenizer);
    seen.insert(seen.end(), talk.text().generated().begin(), talk.text().generated().end());
    CHECK(all_tokens(talk) == seen);
    // the same answer without a cache of the first turn
    Conversation again = t.begin(6);
    again.set_messages(said);
    again.answer();
    std::string text;
    while (!again.finished()) text += again.next();
    CHECK_ALL(text == second, again.messages() == talk.messages());
    talk.set_system("");
    CHECK_ALL(talk.messages().size() == 4, talk.messages()[0].role == "user");
}

TEST_CASE("conversation: a full context forgets the oldest turns, but not the system's message", "[generate]") {
    const Talk t;
    Conversation talk = t.begin(8);
    talk.set_system("Be short.");
    std::size_t forgotten = 0;
    for (int turn = 0; turn < 8; ++turn) {
        answer_of(talk, "One day Rosa ran");
        CHECK_ALL(talk.text().tokens().size() <= 96, talk.text().generated().size() == 8);
        CHECK(talk.forgotten() >= forgotten);
        forgotten = talk.forgotten();
        CHECK(forgotten % 2 == 0);
    }
    CHECK(forgotten > 0);
    CHECK(talk.messages().size() == 17);  // all are kept
    const std::string seen = t.tokenizer->decode(talk.text().tokens());
    CHECK(seen.starts_with("<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nOne day"));
    const std::vector<ChatMessage> before = talk.messages();
    std::string one;
    for (int i = 0; i < 100; ++i) one += "One day ";
    CHECK_THROWS_WITH(talk.ask(one), contains("the context has room for 95"));
    CHECK(talk.messages() == before);
}

TEST_CASE("conversation: an answer ends with the context or when stopped, settings are for what comes", "[generate]") {
    const Talk t;
    Conversation talk = t.begin(Conversation::what_is_left, 1.0);
    answer_of(talk, "One day");
    CHECK_ALL(talk.full(), talk.text().tokens().size() == 96, talk.text().finish_reason() == FinishReason::length);
    talk.set_messages({});
    talk.ask("One day");
    talk.next();
    talk.stop();
    CHECK_ALL(talk.finished(), !talk.full());
    REQUIRE(talk.messages().size() == 2);
    CHECK(talk.text().finish_reason() == FinishReason::interrupted);
    Conversation told = t.begin(5);
    const std::string first = answer_of(told, "One day");
    GenerateOptions options = told.options();
    options.max_tokens = 2;
    told.set_options(options);
    answer_of(told, "And then?");
    CHECK_ALL(told.text().generated().size() == 2, told.messages()[1].content == first);
    options.temperature = -1;
    CHECK_THROWS_AS(told.set_options(options), Error);
    // new conversations draw the same random numbers; one that is cleared and starts again draws others
    Conversation a = t.begin(12, 1.0), b = t.begin(12, 1.0);
    const std::string text = answer_of(a, "One day");
    CHECK(answer_of(b, "One day") == text);
    a.set_messages({});
    CHECK(answer_of(a, "One day") != text);
}
