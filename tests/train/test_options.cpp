// TrainOptions: defaults, writing and reading config.toml, and invalid values.
#include "train/settings/settings.h"

#include <set>

#include "formats/utf8.h"
#include "tests/catch.h"
#include "tests/support/error_of.h"
#include "tests/support/scratch_folder.h"
#include "train/run/resume.h"

using namespace inkling;
using namespace inkling::testing;
using train::TrainOptions;

namespace {

// Every setting as "name = value", for comparisons.
std::vector<std::string> listed(TrainOptions options) {
    std::vector<std::string> result;
    for (const train::Setting& s : train::settings(options)) result.push_back(s.name + " = " + s.toml());
    return result;
}

TrainOptions all_different() {
    TrainOptions o;
    int n = 2;
    for (const train::Setting& s : train::settings(o)) {
        ++n;
        const bool list = std::holds_alternative<std::vector<std::string>*>(s.value);
        const bool number =
            std::holds_alternative<double*>(s.value) || std::holds_alternative<train::Duration>(s.value);
        if (const auto* const choice = std::get_if<train::Choice>(&s.value))
            s.read({choice->known().back()});
        else if (std::holds_alternative<bool*>(s.value))
            s.read({s.text() == "true" ? "false" : "true"});
        else if (list)
            s.read({"a b.txt", "quote\"and\\slash", "é\n"});
        else if (std::holds_alternative<std::string*>(s.value))
            s.read({"text of " + s.name});
        else
            s.read({number ? fmt::format("{}", 1.0 / 3 + n) : fmt::format("{}", 1000 + n)});
    }
    o.learning_rate = 1e-30, o.min_lr = 3, o.grad_clip = 0.1;
    return o;
}

std::string refusal(const std::string& toml) {
    const ScratchFolder folder;
    TrainOptions o;
    const std::string error = error_of([&] { train::read_toml(folder.write("c.toml", toml), o); });
    CHECK((error.empty() || error.find("c.toml: ") != std::string::npos));
    CHECK(error.find('\n') == std::string::npos);
    return error;
}

}  // namespace

TEST_CASE("options: config.toml comes back as it was", "[train]") {
    const ScratchFolder folder;
    for (const TrainOptions& options : {TrainOptions{}, all_different()}) {
        TrainOptions back = all_different();
        back.data = {"other"};
        back.overwrite = options.overwrite, back.resume = options.resume;  // not kept: they are said of one start
        train::read_toml(folder.write("c.toml", train::to_toml(options)), back);
        CHECK(listed(back) == listed(options));
    }
    CHECK(train::to_toml(all_different()).find("overwrite") == std::string::npos);
    CHECK(train::to_toml(all_different()).find("resume") == std::string::npos);
}

TEST_CASE("options: every number that a flag takes survives config.toml", "[train]") {
    const ScratchFolder folder;
    TrainOptions options, back;
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{INT64_MAX}}) {
        options.seed = seed;
        CHECK_NOTHROW(options.validate());
        train::read_toml(folder.write("c.toml", train::to_toml(options)), back);
        CHECK(back.seed == seed);
    }
    options.seed = back.seed = 1;
    for (const double rate : {-0.0, 5e-324, 1e300, 1.0 / 3, 100.0}) {
        options.min_lr = rate;
        train::read_toml(folder.write("c.toml", train::to_toml(options)), back);
        CHECK(back.min_lr == rate);
        CHECK(train::to_toml(back) == train::to_toml(options));
    }
    // TOML's integers end at 2^63 - 1: a larger seed is refused instead of changed
    options.seed = std::uint64_t{1} << 63;
    CHECK_THROWS_WITH(options.validate(), contains("--seed"));
}

TEST_CASE("options: a number or text that a flag takes survives config.toml, a name as in a URL", "[train]") {
    for (const std::string text : {"", " ", "it's", "\"", "''' \" \n", "\"\"\"'''\n'", "\\n", "\t\r\x01\x7f",
                                   "\u00fc\u4e2d", "caf\xE9/it's 100%.txt", "\xFF"}) {
        train::TrainOptions options, back;  // every text that a flag takes survives config.toml
        options.out = text, options.sample_prompt = {text, text};
        const std::string toml = train::to_toml(options);
        CHECK(formats::find_invalid_utf8(toml) == std::string::npos);
        train::parse_toml(toml, "c.toml", back);
        CHECK((back.out == text && back.sample_prompt == options.sample_prompt));
    }
    train::TrainOptions named;  // a name that is not UTF-8 is written as in a URL
    named.data = {"a.txt", "caf\xE9.txt"};
    CHECK_THAT(train::to_toml(named), contains("data = [ 'a.txt', { url = 'caf%E9.txt' } ]"));
    const auto refusal_of = [&](const std::string& value) { return refusal("data = [ " + value + " ]"); };
    CHECK_THAT(refusal_of("{ url = 'caf%E' }"), contains("data: '%' must be followed by two hexadecimal"));
    CHECK_THAT(refusal_of("{ url = 'a%00' }"), contains("without NUL bytes"));
    for (const char* const other : {"{ url = 5 }", "{ url = 'a', b = 1 }", "{ uri = 'a' }", "5"})
        CHECK_THAT(refusal_of(other), contains("data: a list of strings is required"));
}

TEST_CASE("options: settings are compared by what they say, not by how they are written", "[train]") {
    const std::string then =
        "precision = 'bf16'\nlora_targets = \"all-linear\"\nlearning_rate = 2e-2\ndata = [ 'a' ]\nn_layer = 3\n";
    TrainOptions now;
    now.precision = Precision::bf16, now.learning_rate = 0.02, now.n_layer = 3;
    CHECK(train::changed_settings(then, now).empty());  // data may change, and the others are not in the text
    CHECK(train::changed_settings(then + "of_tomorrow = 1\n", now).empty());
    now.lora_targets = "c_fc", now.seed = 2, now.n_layer = 4;
    CHECK(train::changed_settings(then, now) ==
          std::vector<std::string>{"--n-layer was 3, is 4", "--lora-targets was 'all-linear', is 'c_fc'"});
    CHECK_THROWS_AS(train::changed_settings("seed =", now), BadInput);
}

TEST_CASE("options: the plan of a run is kept in its config.toml, and is no setting", "[train]") {
    using Changes = std::vector<train::RunPlan::Change>;
    TrainOptions options, back;
    CHECK(train::to_toml(options).find("replan") == std::string::npos);
    for (const train::Setting& s : train::settings(options)) CHECK(s.name.find("plan") == std::string::npos);
    const std::string before = "replan = false\nreplan_step = 20\nplanned_iters = 30\n";  // as older versions wrote it
    CHECK(train::parse_toml(before, "c.toml", options).empty());
    CHECK((!options.plan.adjustable && options.plan.changes == Changes{{20, 30}}));
    CHECK(train::parse_toml("replan = true\nreplan_step = 0\nplanned_iters = 0\n", "c.toml", options).empty());
    CHECK((options.plan.adjustable && options.plan.changes.empty()));
    for (const Changes& changes : {Changes{}, Changes{{20, 30}}, Changes{{20, 30}, {25, 60}}}) {
        options.plan.changes = changes;
        train::parse_toml(train::to_toml(options), "c.toml", back);
        CHECK((back.plan.adjustable && back.plan.changes == changes));
    }
    CHECK_THAT(refusal("replan = 1"), contains("replan: true or false"));
    CHECK_THAT(refusal("replan_step = 'soon'"), contains("replan_step: whole numbers"));
    CHECK_THAT(refusal("replan_step = [ 5, -1 ]"), contains("replan_step: whole numbers"));
    for (const char* bad : {"replan_step = [ 5 ]", "replan_step = [ 5, 5 ]\nplanned_iters = [ 9, 9 ]"})
        CHECK_THAT(refusal(bad), contains("replan_step: steps that rise, as many as planned_iters"));
}

TEST_CASE("options: texts of the command line and of Python are read alike", "[train]") {
    TrainOptions o;
    const auto read = [&](const std::string& name, const std::vector<std::string>& texts) {
        for (const train::Setting& s : train::settings(o))
            if (s.name == name) return error_of<Error>([&] { s.read(texts); });
        return std::string("no such setting");
    };
    CHECK((read("n-layer", {"3", "010"}).empty() && o.n_layer == 10));
    CHECK((read("max-time", {"1h30m"}).empty() && o.max_time == 5400));
    CHECK((read("learning-rate", {"+1e-3"}).empty() && o.learning_rate == 1e-3));
    CHECK((read("data", {"a", "b"}).empty() && o.data == std::vector<std::string>{"a", "b"}));
    CHECK(read("n-layer", {"-1"}) == "--n-layer: a whole number of at least 0 is required, got '-1'");
    CHECK(read("learning-rate", {"1e-3x"}) == "--learning-rate: a number is required, got '1e-3x'");
    CHECK(read("bias", {"yes"}) == "--bias: true or false is required, got 'yes'");
    CHECK_THAT(read("max-time", {"5x"}), contains("90s, 5m or 1h30m, got '5x'"));
    CHECK_THAT(read("schedule", {"cosin"}), contains("did you mean cosine"));
}

TEST_CASE("options: config.toml changes what it names and nothing else", "[train]") {
    const ScratchFolder folder;
    TrainOptions options = all_different(), expected = options;
    const auto read = train::read_toml(
        folder.write("c.toml", "n_layer = 7\nlearning_rate = 1\nbias = true\ndata = [\"x\"]\n"), options);
    CHECK(read == std::set<std::string>{"n-layer", "learning-rate", "bias", "data"});
    expected.n_layer = 7, expected.learning_rate = 1, expected.bias = true, expected.data = {"x"};
    CHECK(listed(options) == listed(expected));
    train::read_toml(folder.write("empty.toml", "# nothing\n"), options);
    CHECK(listed(options) == listed(expected));
}

TEST_CASE("options: unknown keys, wrong types and broken TOML are refused", "[train]") {
    CHECK(refusal("n_layer = 3").empty());
    CHECK_THAT(refusal("n_layers = 3"), contains("unknown key 'n_layers', did you mean n_layer"));
    CHECK_THAT(refusal("[model]\nn_layer = 3"), contains("unknown key 'model'"));
    CHECK_THAT(refusal("n-layer = 3"), contains("unknown key 'n-layer', did you mean n_layer"));
    for (const char* value : {"-1", "1.5", "\"3\"", "true", "[3]"})
        CHECK_THAT(refusal(std::string("n_layer = ") + value), contains("n_layer: a whole number of at least 0"));
    CHECK_THAT(refusal("learning_rate = \"fast\""), contains("learning_rate: a number"));
    CHECK_THAT(refusal("bias = 1"), contains("bias: true or false"));
    CHECK_THAT(refusal("out = 3"), contains("out: a string"));
    CHECK_THAT(refusal("data = \"x\""), contains("data: a list of strings"));
    CHECK_THAT(refusal("data = [1]"), contains("data: a list of strings"));
    CHECK_THAT(refusal("out = \"a\\u0000b\""), contains("out: a text without NUL bytes is required"));
    CHECK_THAT(refusal("data = [\"a\\u0000b\"]"), contains("data: a text without NUL bytes is required"));
    CHECK_THAT(refusal("data = " + std::string(50'000, '[')), contains("nested deeper than 32 levels"));
    CHECK_THAT(refusal("\n\nn_layer = = 3"), contains("line 3"));
    CHECK_THAT(refusal("n_layer = 3\nn_layer = 4"), contains("line 2"));
    TrainOptions o;
    CHECK_THROWS_WITH(train::read_toml("/nowhere/c.toml", o), contains("/nowhere/c.toml"));
    CHECK_THAT(refusal("n_layer =n\n"), contains("c.toml: line 1: "));  // an error in a file of settings is one line
}

TEST_CASE("options: validate names the flag whose value makes no sense", "[train]") {
    const auto message = [](auto change) {
        TrainOptions o;
        change(o);
        return error_of<Error>([&] { o.validate(); });
    };
    const double nan = std::nan("");
    CHECK(message([](auto&) {}).empty());
    CHECK_THAT(message([](auto& o) { o.batch_size = 0; }), contains("--batch-size"));
    CHECK_THAT(message([](auto& o) { o.gradient_accumulation_steps = 0; }), contains("--gradient-accumulation-steps"));
    CHECK_THAT(message([](auto& o) { o.n_embd = 127; }), contains("--n-embd"));
    CHECK_THAT(message([](auto& o) { o.block_size = 0; }), contains("--block-size"));
    CHECK_THAT(message([](auto& o) { o.learning_rate = -1; }), contains("--learning-rate"));
    CHECK_THAT(message([=](auto& o) { o.learning_rate = nan; }), contains("--learning-rate"));
    CHECK_THAT(message([=](auto& o) { o.min_lr = nan; }), contains("--min-lr"));
    CHECK_THAT(message([](auto& o) { o.beta1 = 1; }), contains("--beta1"));
    CHECK_THAT(message([](auto& o) { o.beta2 = 1; }), contains("--beta2"));
    CHECK_THAT(message([](auto& o) { o.weight_decay = -0.1; }), contains("--weight-decay"));
    CHECK_THAT(message([](auto& o) { o.grad_clip = -1; }), contains("--grad-clip"));
    CHECK_THAT(message([](auto& o) { o.max_time = -1; }), contains("--max-time"));
    CHECK_THAT(message([](auto& o) { o.val_fraction = 1; }), contains("--val-fraction"));
    CHECK_THAT(message([](auto& o) { o.dropout = 1; }), contains("--dropout"));
    CHECK_THAT(message([](auto& o) { o.arch = "mamba"; }), contains("--arch", "'mamba'"));
    CHECK_THAT(message([](auto& o) { o.embedding_lr = -1; }), contains("--embedding-lr"));
    CHECK_THAT(message([](auto& o) { o.optimizer = train::OptimizerKind::sgd, o.head_lr = 1e-3; }),
               contains("--head-lr is for --optimizer adamw and muon"));
    CHECK_THAT(message([](auto& o) { o.vector_lr = 1e-3, o.learning_rate = 0; }),
               contains("--vector-lr needs a --learning-rate"));
    CHECK_THAT(message([](auto& o) { o.ns_steps = 0; }), contains("--ns-steps"));
    CHECK_THAT(message([](auto& o) { o.momentum = 1; }), contains("--momentum"));
    CHECK_THAT(message([](auto& o) { o.decay_fraction = 1.1; }), contains("--decay-fraction"));
    CHECK_THAT(message([](auto& o) { o.ema = 1; }), contains("--ema"));
    CHECK_THAT(message([=](auto& o) { o.ema = nan; }), contains("--ema"));
    CHECK_THAT(message([](auto& o) { o.out = ""; }), contains("--out"));
}

TEST_CASE("options: a name that a kind does not have is refused, with those that it has", "[train]") {
    const auto message = [](const std::string& toml) {
        TrainOptions o;
        return error_of<Error>([&] { train::parse_toml(toml, "c.toml", o); });
    };
    CHECK(message("optimizer = 'adam'") ==
          "--optimizer must be one of adamw, muon, sgd, got 'adam', did you mean adamw");
    CHECK(message("schedule = 'step'") == "--schedule must be one of constant, cosine, linear, wsd, got 'step'");
    CHECK(message("sampler = ''") == "--sampler must be one of paragraphs, random, sequential, shuffle, got ''");
    CHECK(message("muon_scale = 'spectral'") == "--muon-scale must be one of adamw, original, rows, got 'spectral'");
    CHECK(message("precision = 'fp8'") == "--precision must be one of bf16, fp32, got 'fp8'");
    CHECK(message("schedule = \"a\\nb\"").ends_with("got 'a?b'"));
    CHECK(message("optimizer = 3").starts_with("bad input: "));
    TrainOptions o;
    train::parse_toml(
        "optimizer = 'muon'\nschedule = 'wsd'\nsampler = 'shuffle'\nmuon_scale = 'original'\n"
        "precision = 'bf16'\n",
        "c.toml", o);
    CHECK((o.optimizer == train::OptimizerKind::muon && o.schedule == train::ScheduleKind::wsd));
    CHECK((o.sampler == data::SamplerKind::shuffle && o.muon_scale == train::MuonScale::original));
    CHECK(o.precision == Precision::bf16);
}

TEST_CASE("options: numbers of tokens that would wrap are refused", "[train]") {
    const auto with = [](auto change) {
        TrainOptions o;
        change(o);
        return o;
    };
    const std::size_t half = std::size_t{1} << 60;  // of windows of 16, 2^64 tokens
    CHECK_THROWS_WITH(with([&](auto& o) { o.batch_size = half, o.block_size = 16; }).validate(),
                      contains("--batch-size times --block-size"));
    CHECK_THROWS_WITH(with([&](auto& o) { o.gradient_accumulation_steps = half; }).validate(),
                      contains("times --gradient-accumulation-steps must be at most 9007199254740992 tokens"));
    CHECK_THROWS_WITH(with([&](auto& o) { o.eval_iters = half; }).validate(), contains("--eval-iters"));
    CHECK_THROWS_WITH(with([&](auto& o) { o.n_embd = std::size_t{1} << 31; }).validate(),
                      contains("--n-embd must be at most 1073741824, got 2147483648"));
}

TEST_CASE("options: with a model to start from, the width need not be that of its heads", "[train]") {
    TrainOptions o;
    o.n_embd = 20, o.n_head = 3;
    CHECK_THROWS_WITH(o.validate(), contains("--n-embd must be divisible by --n-head, got 20 and 3"));
    o.init_from = "a folder";
    CHECK_NOTHROW(o.validate());
    o.n_head = 0;
    CHECK_THROWS_WITH(o.validate(), contains("--n-head must be at least 1"));
}
