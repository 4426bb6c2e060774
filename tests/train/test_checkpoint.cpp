// Checkpoints: a run that stops and resumes ends with the same bytes as one that never stopped; damage is an error.
#include "train/run/checkpoint.h"

#include "formats/safetensors/safetensors.h"
#include "tests/models/folders.h"
#include "tests/train/checkpoints.h"
#include "tests/train/run.h"
#include "train/optimizers/adamw.h"

namespace {

train::TrainOptions options_until(std::size_t steps, data::SamplerKind sampler = data::SamplerKind::random) {
    train::TrainOptions o = small_options();
    o.dropout = 0.1, o.sampler = sampler;
    o.max_iters = steps;  // the schedule ends at lr_decay_iters in any case
    o.eval_every = 7;
    o.save_every = 100;
    return o;
}

// Trains in `out` up to `steps`, with new objects, from the newest checkpoint, if any.
void train_in(const std::string& out, const train::TrainOptions& o, std::size_t threads = 2) {
    const Threads scope(static_cast<int>(threads));
    const std::string text = letters(600);
    train::RunFolder folder(out);
    std::unique_ptr<models::Transformer<float>> from;
    if (!folder.checkpoints().empty()) from = models::load_model(folder.checkpoints().front(), o.dropout).model;
    const bool resumed = from != nullptr;
    Run run(o, text, std::move(from));
    if (resumed) run.resume(folder.checkpoints().front());
    run.to_end(&folder);
}

void check_same_checkpoint(const fs::path& a, const fs::path& b) {
    CHECK(differences(timeless_files(a), timeless_files(b)) == "");
}

// A finished run of 6 steps to damage or resume.
struct SavedRun {
    ScratchFolder scratch;
    fs::path checkpoint;
    SavedRun() {
        train_in(scratch.path("out"), options_until(6));
        checkpoint = scratch.path("out/step-000006");
    }
    fs::path state() const { return checkpoint / "training_state.safetensors"; }

    // The error message of resume; "" if it succeeds.
    std::string refusal(const std::string& text = letters(600)) const {
        return error_of([&] {
            Run run(options_until(20), text, models::load_model(checkpoint).model);
            run.resume(checkpoint);
        });
    }
};

}  // namespace

TEST_CASE("checkpoint: stopped after any step, with any sampler, optimizer and average, the same bytes", "[train]") {
    const ScratchFolder scratch;
    train_in(scratch.path("straight"), options_until(20));
    const fs::path straight = fs::canonical(scratch.path("straight/latest"));
    CHECK(straight.filename() == "step-000020");
    for (std::size_t k = 1; k <= 20; ++k) {
        const std::string out = scratch.path("stopped-" + std::to_string(k));
        train_in(out, options_until(k), k % 2 + 1), train_in(out, options_until(20), k % 3 + 1);
        INFO("stopped at " << k);
        check_same_checkpoint(straight, fs::canonical(out + "/latest"));
    }
    using enum data::SamplerKind;
    std::vector<std::pair<std::string, train::TrainOptions>> runs;
    for (const auto sampler : {shuffle, sequential, paragraphs})
        runs.emplace_back(name_of(sampler), options_until(20, sampler));
    for (const auto& [optimizer, name] : names(OptimizerKind{})) {
        train::TrainOptions o = options_until(20);
        o.schedule = train::ScheduleKind::wsd, o.learning_rate = 0.02, o.optimizer = optimizer;
        runs.emplace_back(name, o);
        o.ema = 0.8, o.muon_split_heads = true, o.precision = Precision::bf16, o.arch = "nanochat", o.bias = false;
        runs.emplace_back(std::string(name) + " averaged", o);
        o.shards = 4;
        runs.emplace_back(std::string(name) + " averaged, of 4 shards", o);
    }
    for (auto& [name, o] : runs) {
        const ScratchFolder place;
        const std::string a = place.path("straight"), b = place.path("stopped");
        train_in(a, o, 1);
        for (const std::size_t k : {2, 9, 13, 20}) {
            o.max_iters = k;
            train_in(b, o, k % 4 + 1);
        }
        INFO(name);
        check_same_checkpoint(fs::canonical(a + "/latest"), fs::canonical(b + "/latest"));
    }
}

TEST_CASE("checkpoint: the state comes back as it was", "[train]") {
    const ScratchFolder scratch;
    Run run(small_options());
    train::AdamW<float> optimizer(run.parameters(), {}), other(run.parameters(), {});
    train::WeightAverage average(run.parameters(), 0);
    optimizer.updates = 17;
    for (std::size_t i = 0; i < optimizer.m.size(); ++i)
        optimizer.m.data()[i] = static_cast<float>(i) * 0.1f, optimizer.v.data()[i] = static_cast<float>(i) + 0.5f;
    const train::TrainingState state{.step = 20,
                                     .best_val_loss = 1.0 / 3,
                                     .best_step = 10,
                                     .val_loss = 2.0 / 3,
                                     .train_s = 1e-300,
                                     .elapsed_s = 12345.678,
                                     .data_fingerprint = "5-abc",
                                     .config = "n_layer = 1\n# \"é\"\n"};
    train::save_checkpoint(scratch.path(), *run.model, run.tokenizer, run.parameters(), optimizer, average, state);
    const train::TrainingState back = train::load_state(scratch.path(), run.parameters(), other, average);
    const auto of_clocks = [](const train::TrainingState& s) { return std::pair(s.train_s, s.elapsed_s); };
    const auto of_losses = [](const train::TrainingState& s) {
        return std::tuple(s.step, s.best_val_loss, s.best_step, s.val_loss, s.data_fingerprint, s.config);
    };
    CHECK_ALL(of_clocks(back) == of_clocks(state), of_losses(back) == of_losses(state));
    CHECK_ALL(train::stored_state(scratch.path()).val_loss == state.val_loss, other.updates == 17);
    for (const auto& e : run.parameters().entries()) {
        const auto part = [&](const Array<float>& a) { return a.sliced(0, e.offset, e.offset + e.parameter.size()); };
        CHECK_ALL(same_bits(part(other.m), part(optimizer.m)), same_bits(part(other.v), part(optimizer.v)));
    }
    train::save_checkpoint(scratch.path(), *run.model, run.tokenizer, run.parameters(), optimizer, average, {});
    CHECK(train::load_state(scratch.path(), run.parameters(), other, average).best_val_loss == kInfinity);
    CHECK(train::stored_state(scratch.path()).val_loss == kInfinity);
    write_state(scratch.path(), 1.5, true);
    CHECK(train::stored_state(scratch.path()).val_loss == 1.5);
}

TEST_CASE("checkpoint: no state before the first update, and more time than was planned is planned with", "[train]") {
    const ScratchFolder scratch;
    Run run(small_options());
    train::AdamW<float> optimizer(run.parameters(), {});
    train::WeightAverage average(run.parameters(), 0);
    const auto saved = [&] {
        train::save_checkpoint(scratch.path(), *run.model, run.tokenizer, run.parameters(), optimizer, average, {});
        CHECK_NOTHROW(train::load_state(scratch.path(), run.parameters(), optimizer, average));
        return fs::file_size(scratch.path("training_state.safetensors"));
    };
    const auto first = saved();
    optimizer.updates = 1;
    CHECK(saved() >= first + 8 * run.parameters().values().size());
    train::TrainOptions o = options_until(6);
    o.max_time = 100;
    train_in(scratch.path("out"), o);
    const fs::path checkpoint = scratch.path("out/step-000006");
    for (const double time : {100.0, 200.0}) {
        o.max_time = time;
        Run resumed(o, letters(600), models::load_model(checkpoint).model);
        resumed.resume(checkpoint);
        CHECK((resumed.loop.options().max_iters > 6) == (time > 100));
    }
}

TEST_CASE("checkpoint: fingerprints tell texts apart, and one that differs by a letter is refused", "[train]") {
    using Tokens = std::vector<std::int32_t>;
    const std::string one = data::Dataset(Tokens{1, 2, 3}).fingerprint;
    CHECK(data::Dataset(Tokens{1, 2, 3}).fingerprint == one);
    const std::vector<std::uint16_t> of_2_bytes = {1, 2, 3};
    CHECK(data::Dataset(data::TokenView(std::span(of_2_bytes))).fingerprint == one);
    for (const Tokens& other : {Tokens{1, 2, 4}, Tokens{1, 3, 2}, Tokens{1, 2}, Tokens{1, 2, 3, 0}, Tokens{0, 1, 2, 3}})
        CHECK(data::Dataset(other).fingerprint != one);
    const SavedRun saved;
    CHECK(saved.refusal().empty());
    std::string text = letters(600);  // a text that differs by one letter is refused
    text[300] = text[300] == 'a' ? 'b' : 'a';
    CHECK_THAT(saved.refusal(text), contains("was trained on another text", saved.checkpoint.string()));
    CHECK_THAT(saved.refusal(letters(601)), contains("another text"));
    Run forced(options_until(20), text, models::load_model(saved.checkpoint).model);
    CHECK_THAT(forced.resume(saved.checkpoint, true), contains("another text"));
}

TEST_CASE("checkpoint: another optimizer or number of shards is refused, averaging may begin late", "[train]") {
    const ScratchFolder scratch;
    train::TrainOptions o = options_until(5);
    o.optimizer = OptimizerKind::muon, o.shards = 4;
    train_in(scratch.path("out"), o);
    const fs::path checkpoint = scratch.path("out/step-000005");
    o.max_iters = 9;
    const auto resumed = [&](train::TrainOptions changed, bool force) {
        Run run(std::move(changed), letters(600), models::load_model(checkpoint).model);
        run.resume(checkpoint, force);
        run.to_end();
        return run.last_val_loss();
    };
    train::TrainOptions other = o;
    other.optimizer = OptimizerKind::adamw;
    CHECK_THROWS_WITH(resumed(other, false),
                      contains("was trained with --optimizer muon: continue with it, not with adamw"));
    other = o, other.shards = 2;
    CHECK_THROWS_WITH(resumed(other, false), contains("--shards was 4, is 2"));
    other = o, other.ema = 0.9;
    CHECK(std::isfinite(resumed(other, true)));
}

TEST_CASE("checkpoint: one bit that flipped, in any of its files that matter, is found", "[train][unsanitized]") {
    const SavedRun saved;
    for (const char* name : {"training_state.safetensors", "model.safetensors", "config.json", "tokenizer.json"}) {
        const fs::path path = saved.checkpoint / name;
        const std::string whole = formats::read_file(path);
        for (std::uint64_t i = 0; i < 100; ++i) {
            std::string flipped = whole;
            const std::size_t at = random_below({6, 1}, i, whole.size());
            flipped[at] = static_cast<char>(flipped[at] ^ (1 << (i % 8)));
            std::ofstream(path, std::ios::binary) << flipped;
            const std::string message = saved.refusal();
            INFO(name << ", byte " << at << " of " << whole.size());
            REQUIRE_FALSE(message.empty());
            REQUIRE(message.find('\n') == std::string::npos);
        }
        std::ofstream(path, std::ios::binary) << whole;
    }
    CHECK(saved.refusal().empty());
}

TEST_CASE("checkpoint: a state of another model or another version is refused", "[train]") {
    const SavedRun saved;
    train::TrainOptions o = options_until(20);
    o.n_layer = 2;
    Run deeper(o);
    CHECK_THROWS_AS(deeper.resume(saved.checkpoint), BadInput);
    const auto file = formats::SafetensorsFile::open(saved.state());
    const StoredTensors tensors = read_tensors(saved.state());
    const std::pair<std::string, std::string> wrong[] = {{"format", "99"},        {"format", "0"}, {"step", "-3"},
                                                         {"step", "six"},         {"updates", ""}, {"val_loss", "low"},
                                                         {"best_val_loss", "1,5"}};
    for (const auto& [key, value] : wrong) {
        formats::SafetensorsWriter out;
        for (const auto& [name, t] : tensors) out.add(name, formats::DType::F32, t.shape, t.values.data());
        for (const auto& [k, v] : file.metadata()) out.set_metadata(k, k == key ? value : v);
        out.write(saved.state());
        INFO(key << " = " << value);
        CHECK_THAT(saved.refusal(), contains("training_state.safetensors", key));
    }
}
