// inkling eval
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/prompt.h"
#include "cli/common.h"
#include "cli/eval/exact_match.h"
#include "cli/signals.h"
#include "cli/training/progress.h"
#include "cli/usage/wrong_usage.h"
#include "data/chat/chat_template.h"
#include "data/dataset.h"
#include "data/stories/stories.h"
#include "engine/base/interrupt.h"
#include "engine/base/portable_math.h"
#include "engine/base/precision.h"
#include "formats/json.h"
#include "formats/named.h"
#include "generate/sequence.h"
#include "train/evaluate.h"

namespace inkling::cli {
namespace {

struct EvalArguments {
    ModelArgument model;
    DataArguments text;
    std::size_t stories = 0, stride = 0, block_size = 0, threads = 0;
    WeightFlags weights;
    std::string loss_on = name_of(data::LossOn::completions);
    bool json = false, strict = false, answers = false;

    models::LoadedModel load() const {
        const WeightType type = weights.type_for(model.weights());
        models::LoadedModel loaded = load_current(model, {type == WeightType::bf16 ? WeightType::fp32 : type});
        loaded.tokenizer->take_unknown(strict);
        return loaded;
    }
};

void require_finite(const EvalArguments& args, double loss) {
    check<BadInput>(std::isfinite(loss), "{}: the loss is {}: the weights are too large: take another checkpoint",
                    args.model.name(), loss);
}

// Returns work(progress); progress(done) shows the progress, and returns false after a signal, which ends the command.
template <class Work>
auto watched(const std::string& what, const Work& work) {
    const Interruptible scope([&signal = catch_signals()] { return signal != 0; });
    Progress shown(what);
    const auto result = work([&](double done) {
        shown.show(done);
        return catch_signals() == 0;
    });
    Interruptible::check();
    return result;
}

std::string evaluating(std::size_t tokens) { return fmt::format("evaluating {}", counted(tokens, "token")); }

// Counts the stories written by the model that the grammar of the built-in corpus accepts, and compares the loss on
// stories that it was not trained on with their entropy.
int evaluate_stories(const EvalArguments& args) {
    constexpr std::uint64_t kFresh = 2;      // the corpus has seed 1
    constexpr std::size_t kBytes = 400'000;  // enough: the entropy of such texts varies by 0.2%
    const models::LoadedModel loaded = args.load();
    const auto& model = loaded.model;  // clang 14 cannot capture a structured binding
    const auto& tokenizer = loaded.tokenizer;
    generate::GenerateOptions options;
    options.max_tokens = 1000;
    options.context_shift = 1;  // keeps as much of a story as possible in the context
    const auto inference = std::make_shared<const models::InferenceModel>(*model, WeightType::file);
    const std::size_t accepted = watched("writing stories", [&](const auto& progress) {
        std::size_t so_far = 0;
        for (; options.sample < args.stories; ++options.sample) {
            progress(static_cast<double>(options.sample) / static_cast<double>(args.stories));
            generate::Sequence story(inference, tokenizer.get(), options);
            // starts after a generated story, because in the corpus each story follows another
            story.add(data::generate_story(kFresh, options.sample) + "\n");
            std::string text;
            std::size_t end = std::string::npos;
            while (end == std::string::npos && !story.finished()) {
                Interruptible::check();
                text += story.next();
                end = text.find("\n\n", 1);  // the text begins with the second line end
            }
            so_far += end != std::string::npos && data::is_story(std::string_view(text).substr(1, end - 1));
        }
        return so_far;
    });
    const std::string text = data::generate_stories(kFresh, kBytes);
    const std::vector<std::int32_t> tokens = tokenizer->encode(text);
    // Windows overlap by half, because a window may begin inside a story whose beginning the model does not see.
    const std::size_t stride = std::max<std::size_t>(1, model->config.block_size / 2);
    const double loss = watched(evaluating(tokens.size() - 1), [&](const auto& progress) {
        return train::evaluate(*model, tokens, {.stride = stride, .progress = progress});
    });
    require_finite(args, loss);
    const std::size_t replaced = say_replaced(*tokenizer);
    const double chars = static_cast<double>(text.size() - tokenizer->decode(std::span(tokens).first(1)).size());
    const double per_char = loss * static_cast<double>(tokens.size() - 1) / chars;
    const double floor = data::stories_nats_per_char;
    if (args.json) {
        const nlohmann::ordered_json line = {{"stories", args.stories},
                                             {"accepted", accepted},
                                             {"nats_per_char", per_char},
                                             {"entropy_nats_per_char", floor},
                                             {"replaced", replaced}};
        print(formats::json_text(line) + "\n");
    } else {
        print(
            fmt::format("{} of {} stories follow the grammar of the built-in corpus (temperature {})\n"
                        "{:.4f} nats per character on new stories, {:.1f}% above their entropy of {:.4f}\n",
                        accepted, args.stories, options.temperature, per_char, 100 * (per_char / floor - 1), floor));
    }
    return 0;
}

// Evaluates each example alone: the mean loss over the tokens that are learned.
int evaluate_examples(const EvalArguments& args, models::Transformer<float>& model,
                      const std::shared_ptr<data::Tokenizer>& shared, const data::Corpus& corpus) {
    data::Tokenizer& tokenizer = *shared;
    check<Usage>(args.stride == 0, "--stride is for text: each document in lines is read from its beginning");
    const data::Dataset dataset =
        data::make_dataset(corpus, tokenizer, {.loss_on = *find_named<data::LossOn>(args.loss_on)});
    const std::size_t length = args.block_size ? args.block_size : model.config.block_size;
    const data::PackedExamples rows(dataset, 0, dataset.ends.size(), length);
    formats::named(corpus.name(), [&] { rows.require_rows(); });
    const double loss = watched(evaluating(rows.targets()), [&](const auto& progress) {
        return train::evaluate(model, rows, {.progress = progress});
    });
    require_finite(args, loss);
    Answers answers;
    if (args.answers)
        answers = watched("asking for answers", [&](const auto& progress) {
            return count_answers(model, shared, *corpus.examples, progress);
        });
    const std::size_t replaced = say_replaced(tokenizer);
    const std::size_t documents = dataset.ends.size() - rows.left_out() - rows.cut_before_answer();
    if (args.json) {
        nlohmann::ordered_json line = {{"loss", loss},
                                       {"perplexity", portable::exp(loss)},
                                       {"tokens", rows.targets()},
                                       {"documents", documents},
                                       {"cut", rows.cut()},
                                       {"left_out", rows.left_out()},
                                       {"replaced", replaced}};
        if (args.answers) line.update({{"answers", answers.asked}, {"right", answers.right}});
        print(formats::json_text(line) + "\n");
    } else {
        print(
            fmt::format("loss           {:.4f} nats per token\nperplexity     {:.3f}\ntokens         {}\n"
                        "documents      {}\n",
                        loss, portable::exp(loss), rows.targets(), documents));
        if (rows.cut() > 0)
            print(fmt::format("cut            {} longer than {}{}\n", rows.cut(), counted(length, "token"),
                              rows.cut_before_answer() > 0
                                  ? fmt::format(", {} before anything to learn", rows.cut_before_answer())
                                  : ""));
        if (args.answers) print(fmt::format("answers        {} of {} are right\n", answers.right, answers.asked));
        if (rows.left_out() > 0) print(fmt::format("left out       {} without anything to learn\n", rows.left_out()));
    }
    return 0;
}

int evaluate_model(const EvalArguments& args) {
    set_threads(args.threads);
    const WithPrecision precision(args.weights.precision == "bf16" ? Precision::bf16 : Precision::fp32);
    const RoundsActivations as_inference;
    if (args.stories > 0) return evaluate_stories(args);
    check<Usage>(!args.text.data.empty(), "--data or --stories is required: see inkling eval --help");
    auto [model, tokenizer] = args.load();
    const std::size_t context = model->config.block_size, length = args.block_size ? args.block_size : context;
    check<Usage>(length <= context, "--block-size must be at most the context of {}, got {}", context, length);
    const data::Corpus corpus = read_data(args.text);
    if (corpus.examples) return evaluate_examples(args, *model, std::move(tokenizer), corpus);
    check<Usage>(!args.answers, "--answers is for conversations: give --data FILE.jsonl");
    const data::Dataset dataset = data::make_dataset(corpus, *tokenizer);
    const data::TokenView tokens = dataset.ids;
    check<BadInput>(tokens.size() >= 2, "{}: expected a text of at least 2 tokens, got {}: add text", corpus.name(),
                    tokens.size());
    check<Usage>(args.stride <= length, "--stride must be at most {} of {}, got {}",
                 args.block_size ? "the --block-size" : "the context", length, args.stride);
    const double loss = watched(evaluating(tokens.size() - 1), [&, &model = model](const auto& progress) {
        return train::evaluate(*model, tokens, {.stride = args.stride, .length = length, .progress = progress});
    });
    require_finite(args, loss);
    const std::size_t predicted = tokens.size() - 1;          // every token but the first
    const bool marked = !tokenizer->tokens_before().empty();  // and the first is not text
    const std::size_t bytes = dataset.bytes - (marked ? 0 : tokenizer->decode(std::vector{tokens[0]}).size());
    const bool has_text = tokenizer->kind() != data::TokenizerKind::ids;
    const double bits_per_byte =
        has_text ? loss * static_cast<double>(predicted) / std::numbers::ln2 / static_cast<double>(bytes)
                 : std::nan("");
    const std::size_t replaced = say_replaced(*tokenizer);
    if (args.json) {
        const nlohmann::ordered_json line = {{"loss", loss},
                                             {"perplexity", portable::exp(loss)},
                                             {"bits_per_byte", bits_per_byte},
                                             {"tokens", predicted},
                                             {"replaced", replaced}};
        print(formats::json_text(line) + "\n");
    } else {
        print(fmt::format("loss           {:.4f} nats per token\nperplexity     {:.3f}\n", loss, portable::exp(loss)));
        if (has_text) print(fmt::format("bits per byte  {:.4f}\n", bits_per_byte));
        print(fmt::format("tokens         {}\n", predicted));
        if (replaced > 0)
            print(fmt::format("replaced       {} of {} characters: the figures are those of the text as replaced\n",
                              replaced, tokens.size()));
    }
    return 0;
}

}  // namespace

Action add_eval(CLI::App& app) {
    auto args = std::make_shared<EvalArguments>();
    add_model_flags(app, args->model);
    add_data_flags(app, args->text);
    app.add_flag("--strict-vocabulary", args->strict, kStrictHelp);
    auto* const stories = app.add_option(
        "--stories", args->stories,
        "instead of --data: let the model write N stories and check them against the built-in corpus's grammar; 0: "
        "none");
    app.add_option("--stride", args->stride,
                   "start a window every N tokens; a smaller stride gives tokens more context; 0: --block-size")
        ->excludes(stories);
    app.add_option("--block-size", args->block_size,
                   "length of a window or row of documents, in tokens; 0: the model's context")
        ->excludes(stories);
    app.add_option("--loss-on", args->loss_on,
                   "tokens to measure in conversations and prompts with a completion: completions (answers and the "
                   "token that ends them) or all")
        ->check(refuse_other_than(names_of<data::LossOn>()));
    app.add_flag("--answers", args->answers,
                 "also let the model give the last answer of each conversation, at temperature 0, and count those that "
                 "equal the data's");
    add_weight_flags(app, args->weights);
    app.add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    app.add_flag("--json", args->json, "print one JSON object");
    return [args] { return evaluate_model(*args); };
}

}  // namespace inkling::cli
