#include "web/api/scheduler.h"

#include <latch>

#include "tests/models/architectures.h"

namespace {

struct ScheduledPrompt {
    // One token after a prompt of five, with a model of three layers. Calls `asked` before each layer and product, with
    // the number of earlier calls; true means that the client is gone.
    explicit ScheduledPrompt(std::function<bool(std::size_t)> asked) {
        models::Transformer<float> model(gpt2_shape(37, 3, 3, 48, 24, 0.0, true));
        model.eval();
        texts = std::make_shared<web::ChoiceStream>(1, false, [this, asked] { return asked(times++); });
        generate::GenerateOptions options;
        options.max_tokens = 1;
        generate::Sequence prompt(model, nullptr, options);
        prompt.add(std::vector<std::int32_t>{1, 2, 3, 4, 5});
        texts->add_prompt(std::move(prompt));
    }
    std::string refused() {
        try {
            texts->wait();
        } catch (const web::HttpError& e) {
            return e.code;
        }
        return "";
    }

    std::size_t times = 0;
    std::shared_ptr<web::ChoiceStream> texts;
};

}  // namespace

TEST_CASE("scheduler: a prompt ends with its client, or with the server, before the next product", "[serve]") {
    web::Metrics metrics;
    web::Scheduler scheduler({}, metrics);
    ScheduledPrompt gone([](std::size_t times) { return times == 1; });
    scheduler.add(gone.texts);
    CHECK_ALL(gone.refused() == "client_gone", gone.times == 2);

    ScheduledPrompt patient([](std::size_t) { return false; });
    scheduler.add(patient.texts);
    CHECK(patient.texts->wait()->tokens == 1);
    CHECK_THAT(metrics.text(0), contains("inkling_prompt_tokens_total 5\n"));

    ScheduledPrompt last([&](std::size_t times) {
        if (times == 1) scheduler.stop();
        return false;
    });
    scheduler.add(last.texts);
    CHECK_ALL(last.refused() == "shutting_down", last.times == 2, metrics.running() == 0);
}

TEST_CASE("scheduler: others get a token between pieces and products of a long prompt, or of a context that is full",
          "[serve]") {
    const bool by_products = GENERATE(false, true), full = GENERATE(false, true);
    const std::size_t layers = by_products ? 3 : 1, pieces = full ? 5 : 4, pieces_again = 3;
    const std::size_t asked = by_products ? layers * 5 : 1;  // a piece: before a layer and its four products
    models::Transformer<float> model(gpt2_shape(37, layers, 3, 48, 5 * generate::kPromptPiece, 0.0, true));
    model.eval();
    const auto inference = std::make_shared<models::InferenceModel>(model);
    const auto sequence = [&](std::size_t prompt, std::size_t max_tokens) {
        generate::GenerateOptions options;
        options.max_tokens = max_tokens;
        generate::Sequence text(inference, nullptr, options);
        text.add(std::vector<std::int32_t>(prompt, 7));
        return text;
    };
    const std::size_t prompt = pieces * generate::kPromptPiece - (full ? 0 : 1);
    std::latch both(1);  // the running text waits for the prompt
    web::ChoiceStream running(1, true, [&] {
        if (!running.jobs()[0].choices.empty()) both.wait();
        return false;
    });
    // Tokens of the running text, while the prompt is read, and while the context is read again for a second token.
    std::vector<std::size_t> first, again;
    web::ChoiceStream reading(1, true, [&] {
        if (running.jobs()[0].choices.empty()) return false;
        const std::size_t now = running.jobs()[0].choices[0].sequence.generated().size();
        const auto& choices = reading.jobs()[0].choices;
        if (!choices.empty() && choices[0].sequence.generated().size() != 1) return false;
        auto& written = choices.empty() ? first : again;
        if (written.empty() || written.back() < now) written.push_back(now);
        return false;
    });
    running.add_prompt(sequence(1, 300)), reading.add_prompt(sequence(prompt, 3));
    const auto not_owned = [](web::ChoiceStream& stream) {
        return std::shared_ptr<web::ChoiceStream>(&stream, [](web::ChoiceStream*) {});
    };
    web::Metrics metrics;
    web::Scheduler scheduler({.seconds_between = by_products ? 0 : 1e9}, metrics);
    scheduler.add(not_owned(running)), scheduler.add(not_owned(reading));
    both.count_down();
    while (reading.wait()) {
    }
    const auto check_steps = [&](const std::vector<std::size_t>& written, std::size_t read) {
        CHECK(written.size() >= read * asked);  // and perhaps a token before the first piece
        CHECK(written.size() <= read * asked + 1);
        for (std::size_t i = 1; i < written.size(); ++i)  // between pieces a token follows that of the last product
            CHECK(written[i] - written[i - 1] <= (by_products ? 2 : 1));
    };
    check_steps(first, pieces);
    if (full) check_steps(again, pieces_again);
    CHECK_THAT(metrics.text(0), contains(fmt::format("inkling_prompt_tokens_total {}\n", prompt + 1)));
    generate::Sequence alone = sequence(prompt, 3);
    alone.write();
    CHECK(std::ranges::equal(reading.jobs()[0].choices[0].sequence.tokens(), alone.tokens()));
    scheduler.stop();
}
