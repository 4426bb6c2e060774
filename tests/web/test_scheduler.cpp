#include "web/api/scheduler.h"

#include <latch>

#include "tests/models/architectures.h"

namespace {

struct ScheduledPrompt {
    // One token after a prompt of five, with a model of three layers. Calls `asked` before each layer, with the number
    // of earlier calls; true means that the client is gone.
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

TEST_CASE("scheduler: a prompt ends with its client, or with the server, before the next layer", "[serve]") {
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

TEST_CASE("scheduler: a long prompt is read in pieces, and others get a token between them and between layers",
          "[serve]") {
    const bool by_layers = GENERATE(false, true);
    const std::size_t layers = by_layers ? 3 : 1;
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
    const std::size_t prompt = 4 * generate::kPromptPiece - 1;
    std::latch both(1);  // the running text waits for the prompt
    web::ChoiceStream running(1, true, [&] {
        if (!running.jobs()[0].choices.empty()) both.wait();
        return false;
    });
    std::vector<std::size_t> written;  // by the running text, while the prompt is read
    web::ChoiceStream reading(1, true, [&] {
        if (running.jobs()[0].choices.empty()) return false;
        const std::size_t now = running.jobs()[0].choices[0].sequence.generated().size();
        if (reading.jobs()[0].choices.empty() && (written.empty() || written.back() < now)) written.push_back(now);
        return false;
    });
    running.add_prompt(sequence(1, 200)), reading.add_prompt(sequence(prompt, 3));
    const auto not_owned = [](web::ChoiceStream& stream) {
        return std::shared_ptr<web::ChoiceStream>(&stream, [](web::ChoiceStream*) {});
    };
    web::Metrics metrics;
    web::Scheduler scheduler({.seconds_between = by_layers ? 0 : 1e9}, metrics);
    scheduler.add(not_owned(running)), scheduler.add(not_owned(reading));
    both.count_down();
    while (reading.wait()) {
    }
    CHECK(written.size() >= 4 * layers);  // pieces, and perhaps a token before the first
    CHECK(written.size() <= 4 * layers + 1);
    for (std::size_t i = 1; i < written.size(); ++i)  // between pieces a token follows that of the last layer
        CHECK(written[i] - written[i - 1] <= (by_layers ? 2 : 1));
    generate::Sequence alone = sequence(prompt, 3);
    alone.write();
    CHECK(std::ranges::equal(reading.jobs()[0].choices[0].sequence.tokens(), alone.tokens()));
    scheduler.stop();
}
