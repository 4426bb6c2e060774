// The generating thread: it abandons a prompt that no client waits for.
#include "tests/catch.h"
#include "tests/models/architectures.h"
#include "web/api/scheduler.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

struct ScheduledPrompt {
    // One token after a prompt of five, with a model of three layers. Calls `asked` before each layer, with the number
    // of earlier calls; true means that the client is gone.
    explicit ScheduledPrompt(std::function<bool(std::size_t)> asked) {
        models::Transformer<float> model(gpt2_shape(37, 3, 3, 48, 24, 0.0, true));
        model.eval();
        texts = std::make_shared<web::TextStream>(1, false, [this, asked] { return asked(times++); });
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
    std::shared_ptr<web::TextStream> texts;
};

}  // namespace

TEST_CASE("scheduler: a prompt ends with its client, or with the server, before the next layer", "[serve]") {
    web::Metrics metrics;
    web::Scheduler scheduler({}, metrics);
    ScheduledPrompt gone([](std::size_t times) { return times == 1; });
    scheduler.add(gone.texts);
    CHECK(gone.refused() == "client_gone");
    CHECK(gone.times == 2);

    ScheduledPrompt patient([](std::size_t) { return false; });
    scheduler.add(patient.texts);
    CHECK(patient.texts->wait()->tokens == 1);
    CHECK_THAT(metrics.text(0), contains("inkling_prompt_tokens_total 5\n"));

    ScheduledPrompt last([&](std::size_t times) {
        if (times == 1) scheduler.stop();
        return false;
    });
    scheduler.add(last.texts);
    CHECK(last.refused() == "shutting_down");
    CHECK(last.times == 2);
    CHECK(metrics.running() == 0);
}
