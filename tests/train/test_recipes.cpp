// Recipes, and how they fit themselves to a run.
#include "train/recipes/recipes.h"

#include "tests/train/config_of.h"
#include "tests/train/run.h"
#include "train/recipes/estimate.h"
#include "train/recipes/fit.h"

using Names = std::vector<std::string>;

static TrainOptions fitted(const Budget& budget, const Names& given = {},
                           const TrainOptions& options = train::recipe("fast").options) {
    train::Config c = config_of("fast", given, options);
    train::fit_given(c);
    train::fit(budget, c);
    CHECK_NOTHROW(c.options.validate());
    return c.options;
}

static double matrices(const TrainOptions& o) { return 12.0 * static_cast<double>(o.n_layer * o.n_embd * o.n_embd); }

TEST_CASE("recipes: all that are listed exist, two are nanoGPT's, a small text has a small model", "[train]") {
    const std::string both =
        "arch = 'gpt2'\nbias = false\nsampler = 'random'\ntokenizer = 'char'\nval_fraction = 0.1\nmax_time = 0\n"
        "optimizer = 'adamw'\nbeta1 = 0.9\nbeta2 = 0.99\nweight_decay = 0.1\ngrad_clip = 1\nema = 0\n"
        "gradient_accumulation_steps = 1\nlearning_rate = 1e-3\nmin_lr = 1e-4\nembedding_lr = 0\nhead_lr = 0\n"
        "vector_lr = 0\nschedule = 'cosine'\nwarmup_iters = 100\n";
    for (const auto& [name, own] :
         {std::pair{"nanogpt-cpu",
                    "n_layer = 4\nn_head = 4\nn_embd = 128\nblock_size = 64\nbatch_size = 12\nmax_iters = 2000\n"
                    "dropout = 0\n"},
          {"nanogpt-baby",
           "n_layer = 6\nn_head = 6\nn_embd = 384\nblock_size = 256\nbatch_size = 64\nmax_iters = 5000\n"
           "dropout = 0.2\n"}}) {
        const TrainOptions o = train::recipe(name).options;
        check_settings(o, both + own);
        CHECK((o.lr_decay_iters == 0 || o.lr_decay_iters == o.max_iters));
    }
    // 10.65M in nanoGPT's count, which leaves out the position table
    const models::Architecture config = train::recipe("nanogpt-baby").options.model_config(65);
    CHECK(models::parameter_count(config) - config.block_size * config.n_embd == 10'646'784);
    const auto names = train::recipe_names();
    CHECK(names.size() == 5);
    for (const auto& name : names) CHECK_NOTHROW(train::recipe(name).options.validate());
    CHECK_THROWS_WITH(train::recipe("slow"), contains("--recipe", "nanogpt-cpu", "'slow'"));
    const TrainOptions o = train::recipe("stories").options;  // stories begin where their windows do
    check_settings(o, "sampler = 'paragraphs'\ntokenizer = 'bpe'\nn_layer = 2\nn_embd = 128\nblock_size = 128");
    CHECK(train::recipe("fast").options.sampler == data::SamplerKind::shuffle);
    CHECK(matrices(fitted({86400, 900, 1'000'000})) <= 8'100'000);  // a small text has a small model
    CHECK(matrices(fitted({86400, 900, 1'000'000})) > matrices(fitted({86400, 900, 100'000})));
    for (const std::size_t tokens : {5u, 20u, 100u, 400u}) {  // a short text has a short context
        const std::size_t context = fitted({60, 900, tokens}).block_size;
        CHECK_ALL(context >= 1, context <= std::max<std::size_t>(1, tokens / 4));
    }
}

TEST_CASE("recipes: fast grows with the time and with the machine", "[train]") {
    const std::size_t tokens = 1'000'000'000;
    double before = 0;
    for (const double seconds : {0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 86400.0, 1e9}) {
        const TrainOptions o = fitted({seconds, 900, tokens});
        CHECK(matrices(o) >= before);
        before = matrices(o);
        CHECK_ALL(o.batch_size * o.block_size >= 256, o.batch_size * o.block_size <= 16384);
        CHECK(matrices(fitted({seconds, 90, tokens})) <= before);
        CHECK(matrices(fitted({seconds, 9000, tokens})) >= before);
    }
    // A head of many tokens takes as much as blocks: the model is smaller then (bench/recipes.md).
    Budget pairs{25, 300, 5'700'000};
    CHECK(matrices(fitted(pairs)) > 3e5);
    pairs.vocabulary = 8192;
    CHECK(matrices(fitted(pairs)) < 2e5);
    // A text that is seen often gets dropout and more weight decay: once, 8 times, 14 times (bench/recipes.md).
    const Budget minute{60, 900, 1'115'394}, some{350, 900, 1'115'394}, ten{600, 900, 1'115'394};
    const TrainOptions once = fitted(minute), repeated = fitted(some), often = fitted(ten);
    CHECK_ALL(matrices(often) > matrices(once), often.block_size > once.block_size, once.dropout == 0);
    CHECK_ALL(repeated.dropout > 0, often.dropout > repeated.dropout, once.weight_decay < often.weight_decay);
    CHECK(often.weight_decay < repeated.weight_decay);
    CHECK(fitted({60, 900, 50'000}).weight_decay == repeated.weight_decay);  // 60 times
    CHECK_ALL(once.cautious_weight_decay, repeated.cautious_weight_decay, !often.cautious_weight_decay);
    CHECK(often.learning_rate < once.learning_rate);
    CHECK(fitted({600, 900, tokens}).dropout == 0);  // which is not seen often
    CHECK(fitted(ten, {"learning-rate"}).learning_rate == once.learning_rate);
    CHECK(fitted(ten, {"dropout"}).dropout == once.dropout);
    CHECK(fitted(ten, {"weight-decay"}).weight_decay == once.weight_decay);
    TrainOptions taught = train::recipe("fast").options;
    taught.teacher = {"runs/first"};
    taught = fitted(ten, {}, taught);
    for (const auto field : {&TrainOptions::dropout, &TrainOptions::weight_decay, &TrainOptions::learning_rate})
        CHECK(taught.*field == once.*field);
    CHECK(taught.cautious_weight_decay);
}

TEST_CASE("recipes: characters for a short text, byte pairs for a long one, unless they are given", "[train]") {
    const auto fitted_tokenizer = [](std::size_t bytes, const Names& given, const TrainOptions& options) {
        train::Config c = config_of("fast", given, options);
        train::fit_tokenizer(bytes, c);
        CHECK_NOTHROW(c.options.validate());
        return std::pair(c.options.tokenizer, c.options.vocab_size);
    };
    const TrainOptions fast = train::recipe("fast").options;
    std::size_t before = 0;
    for (const std::size_t bytes : {300u, 100'000u, 300'000u, 1'000'000u, 20'000'000u, 1'000'000'000u}) {
        const auto [tokenizer, size] = fitted_tokenizer(bytes, {}, fast);
        CHECK(tokenizer == (bytes <= 100'000 ? "char" : "bpe"));
        if (tokenizer == "bpe") CHECK(size >= before);
        before = tokenizer == "bpe" ? size : 0;
    }
    TrainOptions o = fast;
    o.vocab_size = 777;
    CHECK(fitted_tokenizer(300, {"vocab-size"}, o) == std::pair(std::string("bpe"), std::size_t{777}));
    o.tokenizer = "char";
    CHECK(fitted_tokenizer(1'000'000, {"tokenizer"}, o).first == "char");
    o = fast;
    CHECK(o.byte_fallback == data::ByteFallback::automatic);
    o.byte_fallback = data::ByteFallback::always;
    CHECK(fitted_tokenizer(1'000'000, {"byte-fallback"}, o).first == "char");
    for (const char* name : {"nanogpt-cpu", "nanogpt-baby"})  // nanoGPT's vocabulary
        CHECK(train::recipe(name).options.byte_fallback == data::ByteFallback::never);
}

TEST_CASE("recipes: what is given stays, and the rest goes with it", "[train]") {
    const Budget budget{60, 900, 1'000'000};
    TrainOptions o = train::recipe("fast").options;
    o.n_layer = 9, o.batch_size = 3, o.embedding_lr = 0.5;
    o = fitted(budget, {"n-layer", "batch-size", "embedding-lr"}, o);
    check_settings(o, "n_layer = 9\nbatch_size = 3\nembedding_lr = 0.5");
    CHECK(o.n_embd == fitted(budget).n_embd);
    for (const std::size_t width : {16, 64, 96, 100, 192}) {
        o.n_embd = width;
        o = fitted(budget, {"n-embd"}, o);
        CHECK_ALL(o.n_embd == width, width % o.n_head == 0, width / o.n_head % 2 == 0);
    }
    for (const std::size_t heads : {1, 3, 5, 12}) {
        o.n_head = heads;
        o = fitted(budget, {"n-head"}, o);
        CHECK_ALL(o.n_head == heads, o.n_embd % (2 * heads) == 0);
    }
    for (const std::size_t tokens : {1'000, 8'000, 30'000, 1'000'000}) {  // of 1, 2, 3 and more heads
        for (const std::size_t kv_heads : {1, 2, 3, 4, 5}) {
            TrainOptions shared = train::recipe("fast").options;
            shared.n_kv_head = kv_heads;
            shared = fitted({60, 900, tokens}, {"n-kv-head"}, shared);
            CHECK_ALL(shared.n_head % kv_heads == 0, shared.n_embd % (2 * shared.n_head) == 0);
        }
    }
    const auto with = [&](OptimizerKind optimizer, const Names& given) {
        TrainOptions other = train::recipe("fast").options;
        other.optimizer = optimizer;
        return fitted(budget, given, other);
    };
    check_settings(with(OptimizerKind::adamw, {"optimizer"}), "learning_rate = 3e-3\nembedding_lr = 0");
    CHECK(with(OptimizerKind::adamw, {"optimizer", "learning-rate"}).learning_rate == 0.03);
    CHECK(with(OptimizerKind::sgd, {"optimizer"}).head_lr == 0);
    CHECK(with(OptimizerKind::muon, {"max-iters"}).max_time == 0);
    CHECK(with(OptimizerKind::muon, {"max-iters", "max-time"}).max_time == 60);
}

TEST_CASE("recipes: the steps that fit into the time, and what follows from them", "[train]") {
    train::Config c = config_of("fast", {"log-every"});
    TrainOptions& o = c.options;
    o.batch_size = 16, o.block_size = 100, o.val_fraction = 0.5;
    CHECK(train::planned_steps({60, 900, 1'000'000'000}, 2200.7, c) == 2200);
    CHECK(train::planned_steps({600, 900, 400'000}, 22'000, c) == 7500);  // 60 times 200,000 tokens
    CHECK(train::planned_steps({60, 900, 100}, 2200, c) == 400);          // so short a text needs them
    CHECK(train::planned_steps({0.001, 900, 400'000}, 0.001, c) == 1);
    o.max_iters = 2000;
    const Budget large{60, 900, 1'000'000'000};
    train::fit_to_steps(large, c);
    // eval_iters: 0.3 of the tokens between two evaluations: 10% of their time
    check_settings(o, "eval_every = 500\nsample_every = 1000\neval_iters = 150\npatience = 0");
    CHECK_ALL(o.log_every == TrainOptions{}.log_every, o.ema == Approx(0.975).epsilon(1e-3));
    train::fit_to_steps({60, 900, 400'000}, c);  // 16 times the text
    check_settings(o, "eval_every = 50\nsave_every = 500\npatience = 16");
    for (const std::size_t steps : {0, 1, 3, 60}) {
        o.max_iters = steps;
        train::fit_to_steps(large, c);
        CHECK_NOTHROW(o.validate());
    }
}

TEST_CASE("recipes: operations give the same plan on any machine, seconds a tenth more steps than fit", "[train]") {
    const auto planned = [](const Names& given, double gflops, const TrainOptions& o, const char* name) {
        train::Config c = config_of(name, given, o);
        Budget budget{60, gflops, 1'000'000};
        if (c.fits != train::Fits::nothing) {
            train::fit_given(c);
            if (c.is_given("max-flops")) budget = train::fit_sizes(budget, nullptr, c);
        }
        train::fit_steps(budget, 0.03, c.options.model_config(64), c);
        return c.options;
    };
    TrainOptions fast = train::recipe("fast").options;
    fast.max_flops = 3e13;
    const TrainOptions one = planned({"max-flops"}, 900, fast, "fast"),
                       other = planned({"max-flops"}, 50, fast, "fast");
    CHECK(train::differing(one, other).empty());
    const double a_step = train::flops_per_step(one, one.model_config(64)), steps = static_cast<double>(one.max_iters);
    CHECK_ALL(steps * a_step <= 3e13, (steps + 1) * a_step > 3e13);
    check_settings(one, "precision = 'fp32'\nmax_time = 0");
    CHECK_ALL(one.n_layer > 2, planned({"max-flops", "max-iters"}, 900, one, "fast").max_iters == one.max_iters);
    TrainOptions few = fast;
    few.max_iters = 7;
    CHECK(planned({"max-flops", "max-iters"}, 900, few, "fast").max_iters == 7);
    CHECK(planned({}, 900, train::recipe("fast").options, "fast").max_iters == 1925);  // in seven eighths of the time
    TrainOptions nano = train::recipe("nanogpt-cpu").options;
    nano.max_flops = 10.5 * train::flops_per_step(nano, nano.model_config(64));
    CHECK(planned({"max-flops"}, 900, nano, "nanogpt-cpu").max_iters == 10);
    CHECK(planned({}, 900, nano, "nanogpt-cpu").max_iters == 2000);
}

TEST_CASE("recipes: help marks exactly the settings that a recipe chooses as chosen by the recipe", "[train]") {
    const TrainOptions plain = train::recipe("fast").options;
    std::set<std::string> changed = {"precision"}, chosen;  // by the CPU
    const auto add_changes = [&](const TrainOptions& o) {
        for (const train::Setting* const s : train::differing(o, plain)) changed.insert(s->name);
    };
    add_changes(train::recipe("stories").options);
    for (const double seconds : {1.0, 60.0, 3600.0})
        for (const std::size_t tokens : {std::size_t{300}, std::size_t{1} << 20, std::size_t{1} << 28}) {
            const Budget budget{seconds, 900, tokens};
            train::Config c = config_of("fast", {}, fitted(budget));
            c.options.max_iters = train::planned_steps(budget, seconds / 0.01, c);
            train::fit_tokenizer(tokens, c);
            train::fit_to_steps(budget, c);
            add_changes(c.options);
        }
    for (const train::Setting& s : train::settings())
        if (s.is(train::kChosen)) chosen.insert(s.name);
    CHECK(changed == chosen);
}
