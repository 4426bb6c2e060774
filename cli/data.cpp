// inkling data: prints the built-in corpus, or questions about it
#include "cli/common.h"
#include "cli/signals.h"
#include "data/stories/stories.h"
#include "data/text/examples.h"

namespace inkling::cli {
namespace {

struct DataCommand {
    std::size_t questions = 0, bytes = 1'000'000;
    std::uint64_t seed = 1;
};

int print_stories(const DataCommand& args) {
    const std::atomic<int>& signal = catch_signals();
    if (args.questions == 0) print(data::generate_stories(args.seed, args.bytes));
    for (std::size_t i = 0; i < args.questions && signal == 0; ++i) {
        const data::StoryQuestion q = data::story_question(args.seed, i);
        print(data::to_line({{"user", q.story + "\n" + q.question}, {"assistant", q.answer}}));
    }
    return 0;
}

}  // namespace

Action add_data(CLI::App& app) {
    auto args = std::make_shared<DataCommand>();
    app.require_subcommand(1);
    CLI::App* const stories = app.add_subcommand("stories", "Print the built-in stories, or questions about them");
    auto* const questions =
        stories->add_option("--questions", args->questions,
                            "print N conversations for train --data instead: a story, a question about it and the "
                            "answer, one per line; 0: the stories");
    stories->add_option("--bytes", args->bytes, "minimum number of bytes of stories")->excludes(questions);
    stories->add_option("--seed", args->seed, "random seed; inkling train uses the stories of seed 1");
    return [args] { return print_stories(*args); };
}

}  // namespace inkling::cli
