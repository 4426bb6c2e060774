// Training on examples: learned tokens, independence of rows and batches, threads, resuming.
#include "data/dataset.h"
#include "models/files/chat_tokens.h"
#include "tests/train/run.h"
#include "train/evaluate.h"

namespace {

std::vector<std::int32_t> all_ids(const Dataset& dataset) { return dataset.ids.copy(); }

std::vector<std::int32_t> learned_ids(const Dataset& dataset) {
    std::vector<std::int32_t> some;
    for (std::size_t i = 0; i < dataset.learn.size(); ++i)
        if (dataset.learn[i]) some.push_back(dataset.ids[i]);
    return some;
}

Dataset encoded(const std::vector<Example>& examples, const Tokenizer& tokenizer,
                LossOn loss_on = LossOn::completions) {
    Corpus corpus;
    corpus.begin_source(nullptr, "a.jsonl");
    corpus.take_examples(examples);
    Dataset dataset = make_dataset(corpus, tokenizer, {.loss_on = loss_on});
    CHECK_ALL(dataset.learn.size() == dataset.ids.size(), dataset.ends.size() == examples.size());
    return dataset;
}

LoadedModel chat_stories() {
    LoadedModel loaded{nullptr, open_tokenizer(tests_path("reference/greedy_gpt2"))};
    add_chat_tokens(loaded);
    return loaded;
}

std::vector<Example> questions(std::size_t n) {
    std::vector<Example> all;
    for (std::size_t i = 0; i < n; ++i) {
        std::string question = "What is " + std::to_string(i % 7) + "?";
        std::string answer = "It is";
        for (std::size_t k = 0; k <= i % 5; ++k) answer += " " + std::to_string((i + k) % 10);
        all.push_back({ExampleShape::messages, {{"user", question}, {"assistant", answer}}, i + 1});
    }
    return all;
}

// A loop that trains on questions, and its model.
struct ExampleRun {
    LoadedModel loaded = chat_stories();
    Dataset text;
    std::unique_ptr<Transformer<float>> model;
    TrainingLoop loop;

    static TrainOptions options() {
        TrainOptions o = small_options();
        o.block_size = 64, o.batch_size = 4, o.n_layer = 2, o.n_embd = 32, o.dropout = 0.1;
        return o;
    }
    explicit ExampleRun(const TrainOptions& o, LossOn loss_on = LossOn::completions)
        : text(encoded(questions(60), *loaded.tokenizer, loss_on)),
          model(std::make_unique<Transformer<float>>(o.model_config(loaded.tokenizer->vocab_size()),
                                                     Generator{o.seed, 0})),
          loop(o, *model, text, loaded.tokenizer.get()) {}
    Array<float> weights() { return loop.step().parameters.values().clone(); }
};

}  // namespace

TEST_CASE("examples: what is learned of each shape", "[train]") {
    const auto tokenizer = open_tokenizer(tests_path("reference/greedy_gpt2"));
    const std::int32_t end = *tokenizer->end_of_text();
    const std::vector<Example> completion{
        {ExampleShape::completion, {{"prompt", "One day<|endoftext|>"}, {"completion", " Rosa ran."}}, 1}};
    const Dataset e = encoded(completion, *tokenizer);
    CHECK(tokenizer->decode(all_ids(e)) == "One day<|endoftext|> Rosa ran.<|endoftext|>");
    CHECK(std::ranges::count(all_ids(e), end) == 1);  // what a prompt spells is text
    CHECK(tokenizer->decode(learned_ids(e)) == " Rosa ran.<|endoftext|>");
    std::vector<std::int32_t> apart;  // as `generate` sees the prompt
    for (const char* part : {"One day<|endoftext|>", " Rosa ran."})
        tokenizer->encode_plain_parts(
            part, [&](auto ids, std::size_t) { apart.insert(apart.end(), ids.begin(), ids.end()); });
    apart.push_back(end);
    CHECK_ALL(all_ids(e) == apart, learned_ids(encoded(completion, *tokenizer, LossOn::all)) == all_ids(e));
    const Dataset text = encoded({{ExampleShape::text, {{"text", "One day"}}, 1}}, *tokenizer);
    CHECK_ALL(learned_ids(text) == all_ids(text), tokenizer->decode(all_ids(text)) == "One day<|endoftext|>");
    const LoadedModel loaded = chat_stories();
    const std::vector<Example> talk{
        {ExampleShape::messages,
         {{"system", "s"}, {"user", "One day"}, {"assistant", "Rosa"}, {"user", "u"}, {"assistant", " ran"}},
         1}};
    const Dataset answers = encoded(talk, *loaded.tokenizer, LossOn::completions);
    CHECK(loaded.tokenizer->decode(learned_ids(answers)) == "Rosa<|im_end|> ran<|im_end|>");
    const Dataset all = encoded(talk, *loaded.tokenizer, LossOn::all);
    CHECK(learned_ids(all) == all_ids(answers));
}

TEST_CASE("examples: conversations that cannot be are named", "[train]") {
    const LoadedModel loaded = chat_stories();
    const std::vector<Example> silent{{ExampleShape::messages, {{"user", "One day"}}, 7}};
    CHECK_THROWS_WITH(encoded(silent, *loaded.tokenizer, LossOn::completions),
                      contains("a.jsonl: line 7: it has no message of the assistant"));
    CHECK_NOTHROW(encoded(silent, *loaded.tokenizer, LossOn::all));
    std::vector<Example> marked = questions(1);
    marked[0].marked = true;
    CHECK_THROWS_WITH(encoded(marked, *loaded.tokenizer, LossOn::all),
                      contains("line 1: a message is marked not to be learned, and --loss-on all"));
    marked[0].parts[1].learned = false;
    CHECK_THROWS_WITH(encoded(marked, *loaded.tokenizer, LossOn::completions),
                      contains("it has no message of the assistant that is learned"));
    const auto bare = open_tokenizer(tests_path("reference/greedy_gpt2"));
    CHECK_THROWS_WITH(encoded(silent, *bare), contains("line 7: conversations need a chat template"));
}

TEST_CASE("chat tokens: tables grow by rows that are the mean of the others", "[train]") {
    LoadedModel loaded = load_model(tests_path("reference/greedy_gpt2"));
    const ConstArray<float> before = loaded.model->head().weight.value().clone();
    const std::size_t used = loaded.tokenizer->vocab_size(), C = before.dim(1);
    add_chat_tokens(loaded);
    CHECK_ALL(loaded.tokenizer->vocab_size() == used + 2, loaded.model->config.vocab_size == used + 2);
    const ConstArray<float> after = loaded.model->head().weight.value();
    REQUIRE(after.dim(0) == used + 2);
    CHECK(loaded.model->head().weight.tensor().requires_grad());
    CHECK(same_bits(Array<float>(after.sliced(0, 0, used).clone()), Array<float>(before.sliced(0, 0, used).clone())));
    for (std::size_t j = 0; j < C; ++j) {
        double mean = 0;
        for (std::size_t i = 0; i < used; ++i) mean += static_cast<double>(before(i, j)) / static_cast<double>(used);
        CHECK(static_cast<double>(after(used, j)) == Approx(mean).margin(1e-7));
        CHECK(after(used + 1, j) == after(used, j));
    }
    const auto chat = ChatTemplate::of(*loaded.tokenizer);
    CHECK(loaded.model->config.end_tokens[0] == chat.end_of_turn());
    // saving and loading keeps it
    const ScratchFolder folder;
    save_model(folder.path(), *loaded.model, *loaded.tokenizer);
    const LoadedModel again = load_model(folder.path());
    const std::vector<ChatMessage> hello{{"user", "One day"}};
    CHECK(ChatTemplate::of(*again.tokenizer).encode(hello, *again.tokenizer) == chat.encode(hello, *loaded.tokenizer));
    CHECK(again.model->config.end_tokens == loaded.model->config.end_tokens);
    LoadedModel letters_only{nullptr, std::make_unique<CharTokenizer>(CharTokenizer::from_text("ab"))};
    CHECK_THROWS_WITH(add_chat_tokens(letters_only), contains("--tokenizer bpe"));
}

TEST_CASE("examples: a sample answers a question that is new, and two batches of a step are as one", "[train]") {
    ExampleRun run(ExampleRun::options());
    const auto question = question_of(run.loop);
    const std::string prompt = run.loaded.tokenizer->decode(question);
    CHECK_THAT(prompt, contains("What is "));
    CHECK(prompt.ends_with("assistant\n"));
    const std::vector<Sample> samples = write_samples(run.loop, *run.loaded.tokenizer, {"", "It is"});
    REQUIRE(samples.size() == 2);
    CHECK_ALL(samples[0].prompt == prompt, samples[1].prompt == "It is", samples[0].text != samples[1].text);
    const ExampleRun all(ExampleRun::options(), LossOn::all);
    CHECK(question_of(all.loop).empty());
    TrainOptions o = ExampleRun::options();
    o.dropout = 0;
    ExampleRun one(o);
    o.batch_size = 2, o.gradient_accumulation_steps = 2;
    ExampleRun two(o);
    for (int i = 0; i < 5; ++i) {
        CHECK(one.loop.run_step() == Approx(two.loop.run_step()).epsilon(1e-5));
        CHECK(one.loop.metrics().grad_norm == Approx(two.loop.metrics().grad_norm).epsilon(1e-4));
    }
}

TEST_CASE("examples: the same bits with any number of threads, and learned", "[train][unsanitized]") {
    double loss = 0;
    check_same_with_any_threads("examples",
                                [&] {
                                    ExampleRun run(ExampleRun::options());
                                    for (int i = 0; i < 12; ++i) loss = run.loop.run_step();
                                    return std::vector{run.weights(), of<float>({loss})};
                                },
                                {2, 3, 5});
    CHECK(loss < std::log(813.0) - 0.5);
}

TEST_CASE("examples: resumed, a run ends with the same bits", "[train]") {
    const ScratchFolder folder;
    TrainOptions o = ExampleRun::options();
    ExampleRun straight(o), stopped(o), resumed(o), unlike(o, LossOn::all);
    for (int i = 0; i < 12; ++i) {
        if (i == 5)
            save_checkpoint(folder.path(), *stopped.model, *stopped.loaded.tokenizer, stopped.loop.step().parameters,
                            *stopped.loop.step().optimizer, stopped.loop.step().average, stopped.loop.state());
        straight.loop.run_step();
        if (i < 5) stopped.loop.run_step();
    }
    for (ExampleRun* const run : {&resumed, &unlike}) {
        auto saved = load_model(folder.path(), o.dropout);
        copy_into(run->loop.step().parameters.values(), FlatParameters<float>(*saved.model).values());
    }
    resume(resumed.loop, folder.path(), false);
    CHECK(resumed.loop.state().step == 5);
    for (int i = 5; i < 12; ++i) resumed.loop.run_step();
    CHECK(same_bits(resumed.weights(), straight.weights()));
    CHECK_THROWS_AS(resume(unlike.loop, folder.path(), false), Mismatch);  // others are to be learned
}

TEST_CASE("examples: the last of them are for validation, each evaluated as if it were alone", "[train]") {
    TrainOptions o = ExampleRun::options();
    o.val_fraction = 0.25;
    ExampleRun run(o);
    REQUIRE(run.loop.val_rows());
    std::size_t validated = 0;
    const auto& rows = *run.loop.val_rows();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const std::size_t d : rows.examples(r)) CHECK(d >= 45);
        validated += rows.examples(r).size();
    }
    CHECK_ALL(validated == 15, run.loop.text().train.size() == run.text.ends[44]);
    double total = 0, counted = 0;
    run.model->eval();
    for (std::size_t d = 45; d < 60; ++d) {
        const std::size_t begin = run.text.begin(d), n = run.text.length(d) - 1;
        IdArray ids({1, n}), targets({1, n});
        double some = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const bool learned = run.text.learn[begin + i + 1];
            ids(0, i) = run.text.ids[begin + i];
            targets(0, i) = learned ? run.text.ids[begin + i + 1] : kIgnore;
            some += learned;
        }
        total += static_cast<double>(run.model->loss(ids, targets).item()) * some;
        counted += some;
    }
    CHECK(static_cast<double>(rows.targets()) == counted);
    CHECK(evaluate(*run.model, rows) == Approx(total / counted).epsilon(1e-6));
    o.max_iters = 3, o.eval_every = 2;
    ExampleRun whole(o);
    whole.loop.run();
    CHECK(std::isfinite(whole.loop.state().val_loss));
    CHECK(whole.loop.metrics().val_tokens == rows.targets());  // those that are learned
    CHECK_FALSE(whole.loop.metrics().bits_per_byte);
}
