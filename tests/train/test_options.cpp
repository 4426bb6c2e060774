// TrainOptions: defaults, writing and reading config.toml, and invalid values.
#include "train/settings/settings.h"

#include "formats/utf8.h"
#include "tests/train/config_of.h"
#include "train/run/resume.h"

// The settings that config.toml keeps.
static std::vector<const Setting*> kept() {
    std::vector<const Setting*> all;
    for (const Setting& s : settings())
        if (!s.is(kOneStart)) all.push_back(&s);
    return all;
}

// The kept settings, each as "name = value".
static std::vector<std::string> listed(const TrainOptions& options) {
    std::vector<std::string> result;
    for (const Setting* const s : kept()) result.push_back(s->name + " = " + s->toml(options));
    return result;
}

static TrainOptions all_different() {
    TrainOptions o;
    int n = 2;
    for (const Setting* const s : kept()) {
        ++n;
        if (const auto* const choice = std::get_if<Choice>(&s->field))
            s->read(o, {choice->known().back()});
        else if (s->kind() == std::string("true or false"))
            s->read(o, {s->text(o) == "true" ? "false" : "true"});
        else if (s->kind() == std::string("a list of strings"))
            s->read(o, {"a b.txt", "quote\"and\\slash", "é\n"});
        else if (s->kind() == std::string("a string"))
            s->read(o, {"text of " + s->name});
        else
            s->read(o,
                    {s->kind() == std::string("a number") ? fmt::format("{}", 1.0 / 3 + n) : std::to_string(1000 + n)});
    }
    o.learning_rate = 1e-30, o.min_lr = 3, o.grad_clip = 0.1;
    return o;
}

static TrainOptions read_back(const TrainOptions& options) { return parse_toml(to_toml(options), "c.toml").options; }

// The error of a config.toml with this text, a BadInput; "" for none.
static std::string refusal(const std::string& toml) {
    const std::string error = error_of([&] { parse_toml(toml, "c.toml"); });
    CHECK_ALL((error.empty() || error.find("c.toml: ") != std::string::npos), error.find('\n') == std::string::npos);
    return error;
}

TEST_CASE("options: every value that a flag takes survives config.toml, a name as in a URL", "[train]") {
    for (const TrainOptions& options : {TrainOptions{}, all_different()})
        CHECK(listed(read_back(options)) == listed(options));
    const std::string all = to_toml(all_different());
    for (const char* of_one_start : {"overwrite", "resume", "recipe", "serve"})
        CHECK(all.find(fmt::format("\n{} =", of_one_start)) == std::string::npos);
    TrainOptions o;
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{INT64_MAX}}) {
        o.seed = seed;
        CHECK_NOTHROW(o.validate());
        CHECK(read_back(o).seed == seed);
    }
    for (const double rate : {-0.0, 5e-324, 1e300, 1.0 / 3, 100.0}) {
        o.min_lr = rate;
        CHECK_ALL(read_back(o).min_lr == rate, to_toml(read_back(o)) == to_toml(o));
    }
    for (const std::string text : {"", " ", "it's", "\"", "''' \" \n", "\"\"\"'''\n'", "\\n", "\t\r\x01\x7f",
                                   "\u00fc\u4e2d", "caf\xE9/it's 100%.txt", "\xFF"}) {
        o.out = text, o.sample_prompt = {text, text};
        CHECK_ALL(find_invalid_utf8(to_toml(o)) == std::string::npos, read_back(o).out == text);
        CHECK(read_back(o).sample_prompt == o.sample_prompt);
    }
    o.data = {"a.txt", "caf\xE9.txt"};  // a name that is not UTF-8 is written as in a URL
    CHECK_THAT(to_toml(o), contains("data = [ 'a.txt', { url = 'caf%E9.txt' } ]"));
    CHECK_THAT(refusal("data = [ { url = 'caf%E' } ]"), contains("data: '%' must be followed by two hexadecimal"));
    CHECK_THAT(refusal("data = [ { url = 'a%00' } ]"), contains("without NUL bytes"));
    for (const char* const other : {"{ url = 5 }", "{ url = 'a', b = 1 }", "{ uri = 'a' }", "5"})
        CHECK_THAT(refusal(fmt::format("data = [ {} ]", other)), contains("data: a list of strings is required"));
}

TEST_CASE("options: settings are compared by what they say, and what is given stays", "[train]") {
    TrainOptions now;
    now.precision = Precision::bf16, now.learning_rate = 0.02, now.n_layer = 3;
    const auto changed = [&](const std::string& then) { return changed_settings(parse_toml(then, "then"), now); };
    const std::string then =
        "precision = 'bf16'\nlora_targets = \"all-linear\"\nlearning_rate = 2e-2\ndata = [ 'a' ]\nn_layer = 3\n";
    CHECK(changed(then).empty());  // data may change, and the others are not in the text
    now.lora_targets = "c_fc", now.seed = 2, now.n_layer = 4;
    CHECK(changed(then) ==
          std::vector<std::string>{"--n-layer was 3, is 4", "--lora-targets was 'all-linear', is 'c_fc'"});
    Config flags{.options = all_different(),
                 .given = {{"n-layer", Config::Source::flag}, {"seed", Config::Source::flag}}};
    flags.options.dry_run = true;
    const Config file = parse_toml("seed = 7\nbatch_size = 9\nreplan = true\n", "c.toml");
    flags.fill(file);
    CHECK_ALL(flags.options.n_layer == all_different().n_layer, flags.options.seed == all_different().seed);
    CHECK_ALL(flags.options.batch_size == 9, flags.options.n_head == TrainOptions().n_head);
    CHECK(flags.options.dry_run);  // of this start
    CHECK_ALL(flags.options.plan.adjustable, flags.is_given("batch-size"), !flags.is_flag("batch-size"));
    CHECK_ALL(flags.is_flag("seed"), !flags.is_given("n-head"));
}

TEST_CASE("options: the plan of a run is kept in its config.toml, and is no setting", "[train]") {
    using Changes = std::vector<RunPlan::Change>;
    TrainOptions options;
    CHECK(to_toml(options).find("replan") == std::string::npos);
    for (const Setting& s : settings()) CHECK(s.name.find("plan") == std::string::npos);
    const auto plan = [](const std::string& text) {
        const Config config = parse_toml(text, "c.toml");
        CHECK(config.given.empty());
        return config.options.plan;
    };
    const RunPlan older = plan("replan = false\nreplan_step = 20\nplanned_iters = 30\n");  // as it was written
    CHECK_FALSE(older.adjustable);
    CHECK(older.changes == Changes{{20, 30}});
    CHECK(plan("replan = true\nreplan_step = 0\nplanned_iters = 0\n").adjustable);
    CHECK(plan("replan = true\nreplan_step = 0\nplanned_iters = 0\n").changes.empty());
    options.plan.adjustable = true;
    for (const Changes& changes : {Changes{}, Changes{{20, 30}}, Changes{{20, 30}, {25, 60}}}) {
        options.plan.changes = changes;
        CHECK_ALL(read_back(options).plan.adjustable, read_back(options).plan.changes == changes);
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
        for (const Setting& s : settings())
            if (s.name == name) return error_of<Error>([&] { s.read(o, texts); });
        return std::string("no such setting");
    };
    CHECK(read("n-layer", {"3", "010"}).empty());
    for (const auto& [time, seconds] :
         {std::pair{"90", 90}, {"90s", 90}, {"5m", 300}, {"1h30m", 5400}, {"2d", 172'800}})
        CHECK_ALL(read("max-time", {time}).empty(), o.max_time == seconds);
    CHECK_ALL(read("learning-rate", {"+1e-3"}).empty(), read("data", {"a", "b"}).empty());
    check_settings(o, "n_layer = 10\nlearning_rate = 1e-3\ndata = [ 'a', 'b' ]");
    CHECK(read("n-layer", {"-1"}) == "--n-layer: expected a whole number of at least 0, got '-1'");
    CHECK(read("learning-rate", {"1e-3x"}) == "--learning-rate: expected a number, got '1e-3x'");
    CHECK(read("bias", {"yes"}) == "--bias: expected true or false, got 'yes'");
    for (const std::string time : {"", "m", "5x", "1h30", "-5", "5m 3s", "nan"})
        CHECK_THAT(read("max-time", {time}), contains("90s, 5m or 1h30m, got '" + time + "'"));
    CHECK_THAT(read("schedule", {"cosin"}), contains("did you mean cosine"));
}

TEST_CASE("options: unknown keys, wrong types and broken TOML are refused", "[train]") {
    CHECK(refusal("n_layer = 3").empty());
    CHECK_THAT(refusal("n_layers = 3"), contains("unknown key 'n_layers', did you mean n_layer"));
    CHECK_THAT(refusal("[model]\nn_layer = 3"), contains("unknown key 'model'"));
    CHECK_THAT(refusal("n-layer = 3"), contains("unknown key 'n-layer', did you mean n_layer"));
    for (const char* value : {"-1", "1.5", "\"3\"", "true", "[3]"})
        CHECK_THAT(refusal(std::string("n_layer = ") + value), contains("n_layer: a whole number of at least 0"));
    CHECK_THAT(refusal("recipe = 'fast'"), contains("unknown key 'recipe'"));
    const std::pair<std::string, const char*> refused[] = {
        {"learning_rate = \"fast\"", "learning_rate: a number"},
        {"bias = 1", "bias: true or false"},
        {"out = 3", "out: a string"},
        {"data = \"x\"", "data: a list of strings"},
        {"data = [1]", "data: a list of strings"},
        {"out = \"a\\u0000b\"", "out: a text without NUL bytes is required"},
        {"data = [\"a\\u0000b\"]", "data: a text without NUL bytes is required"},
        {"data = " + std::string(50'000, '['), "nested deeper than 32 levels"},
        {"\n\nn_layer = = 3", "line 3"},
        {"n_layer = 3\nn_layer = 4", "line 2"},
        {"n_layer =n\n", "c.toml: line 1: "}};  // on one line
    for (const auto& [toml, error] : refused) CHECK_THAT(refusal(toml), contains(error));
    CHECK_THROWS_WITH(read_toml("/nowhere/c.toml"), contains("/nowhere/c.toml"));
    const ScratchFolder folder;
    CHECK(read_toml(folder.write("c.toml", "n_layer = 7\n")).options.n_layer == 7);
    CHECK(parse_toml("of_tomorrow = 1\n", "c.toml", UnknownKeys::passed_over).given.empty());
    const Config older = parse_toml("overwrite = true\n", "c.toml");  // as older versions wrote
    CHECK_ALL(older.given.empty(), !older.options.overwrite);
}

TEST_CASE("options: validate names the flag whose value makes no sense, and the names that a kind has", "[train]") {
    const auto invalid = [](const std::string& toml) {
        return error_of<Error>([&] { parse_toml(toml, "c.toml").options.validate(); });
    };
    for (const std::string& setting : testing::lines_of(
             "batch_size = 0\ngradient_accumulation_steps = 0\nn_embd = 127\nblock_size = 0\nlearning_rate = -1\n"
             "learning_rate = nan\nmin_lr = nan\nbeta1 = 1\nbeta2 = 1\nweight_decay = -0.1\ngrad_clip = -1\n"
             "max_time = -1\nval_fraction = 1\ndropout = 1\narch = 'mamba'\nembedding_lr = -1\nns_steps = 0\n"
             "momentum = 1\ndecay_fraction = 1.1\nema = 1\nema = nan\nout = ''\neval_iters = 1152921504606846976")) {
        std::string flag = "--" + setting.substr(0, setting.find(' '));
        std::replace(flag.begin(), flag.end(), '_', '-');
        CHECK_THAT(invalid(setting), contains(flag));
    }
    const std::pair<std::string, std::string> refused[] = {
        {"n_embd = 2147483648", "--n-embd must be at most 1073741824, got 2147483648"},
        {"optimizer = 'sgd'\nhead_lr = 1e-3", "--head-lr is for --optimizer adamw and muon"},
        {"vector_lr = 1e-3\nlearning_rate = 0", "--vector-lr needs a --learning-rate"},
        {"batch_size = 1152921504606846976\nblock_size = 16", "--batch-size times --block-size"},  // 2^64 tokens
        {"gradient_accumulation_steps = 1152921504606846976",
         "times --gradient-accumulation-steps must be at most 9007199254740992 tokens"},
        {"n_embd = 20\nn_head = 3", "--n-embd must be divisible by --n-head, got 20 and 3"},
        {"init_from = 'a folder'\nn_head = 0", "--n-head must be at least 1"}};
    for (const auto& [toml, error] : refused) CHECK_THAT(invalid(toml), contains(error));
    CHECK(invalid("").empty());
    CHECK(invalid("init_from = 'a folder'\nn_embd = 20\nn_head = 3").empty());  // the shape is that model's
    TrainOptions o;
    o.seed = std::uint64_t{1} << 63;  // TOML's integers end at 2^63 - 1
    CHECK_THAT(error_of<Error>([&] { o.validate(); }), contains("--seed"));
    const auto message = [](const std::string& toml) {
        return error_of<WrongSetting>([&] { parse_toml(toml, "c.toml"); });
    };
    CHECK(message("optimizer = 'adam'") ==
          "--optimizer must be one of adamw, muon, sgd, got 'adam', did you mean adamw");
    CHECK(message("sampler = ''") == "--sampler must be one of paragraphs, random, sequential, shuffle, got ''");
    CHECK(message("schedule = \"a\\nb\"").ends_with("got 'a?b'"));
    CHECK_THAT(refusal("optimizer = 3"), contains("optimizer: a string is required"));
}
