#include "cli/eval/exact_match.h"

#include "engine/base/check.h"
#include "generate/conversation.h"

namespace inkling::cli {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr const char* kSpace = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kSpace);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

}  // namespace

Answers count_answers(const models::Transformer<float>& model, const std::shared_ptr<const data::Tokenizer>& tokenizer,
                      const std::vector<data::Example>& examples, const std::function<bool(double done)>& progress) {
    constexpr std::size_t kMore = 8;  // tokens beyond the right answer, enough to see that an answer is too long
    const auto inference = std::make_shared<const models::InferenceModel>(model, WeightType::file);
    generate::GenerateOptions options;
    options.temperature = 0;
    generate::Conversation talk(inference, tokenizer, data::ChatTemplate::of(*tokenizer), options);
    Answers found;
    for (const data::Example& d : examples) {
        check<BadInput>(d.shape == data::ExampleShape::messages, "--answers is for conversations");
        std::vector<data::ChatMessage> asked = d.parts;
        while (asked.size() > 1 && asked.back().role != "assistant") asked.pop_back();
        const std::string expected = asked.back().content;
        asked.pop_back();
        if (asked.empty()) continue;  // nothing comes before its answer
        if (!progress(static_cast<double>(&d - examples.data()) / static_cast<double>(examples.size()))) break;
        ++found.asked;
        options.max_tokens = tokenizer->encode(expected).size() + kMore;
        talk.set_options(options);
        try {
            talk.set_messages(asked);
            talk.answer();
        } catch (const BadInput&) {
            continue;
        }
        while (!talk.finished()) talk.next();
        found.right += trimmed(talk.messages().back().content) == trimmed(expected);
    }
    return found;
}

}  // namespace inkling::cli
