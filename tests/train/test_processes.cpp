// Several processes that train together give the result of one, to the last bit. Here they are threads;
// tests/cli/test_mpirun.cpp uses mpirun.
#include "tests/train/run.h"
#include "tests/train/threads_as_processes.h"
#include "train/evaluate.h"

namespace {

train::TrainOptions options_together(OptimizerKind optimizer) {
    train::TrainOptions o = small_options();
    o.n_layer = 2, o.n_embd = 32, o.batch_size = 8, o.shards = 4, o.max_iters = 6;
    o.optimizer = optimizer, o.learning_rate = 0.01;
    return o;
}

// A run whose loop belongs to one of several processes.
struct PartOfRun {
    data::CharTokenizer tokenizer;
    std::vector<std::int32_t> tokens;
    models::Transformer<float> model;
    train::TrainingLoop loop;

    PartOfRun(const train::TrainOptions& o, distributed::Processes& all = distributed::alone())
        : tokenizer(data::CharTokenizer::from_text(letters(3000))),
          tokens(tokenizer.encode(letters(3000))),
          model(o.model_config(tokenizer.vocab_size()), Generator{o.seed, 0}),
          loop(o, model, tokens, &tokenizer, all) {}
    Array<float> weights() { return loop.step().parameters.values().clone(); }
};

struct Ended {
    Array<float> weights;
    double loss = 0, norm = 0, val_loss = 0;
};

Ended trained_alone(const train::TrainOptions& o) {
    PartOfRun run(o);
    run.loop.run();
    return {run.weights(), run.loop.metrics().loss, run.loop.metrics().grad_norm, run.loop.state().val_loss};
}

std::vector<Ended> trained_together(const train::TrainOptions& o, std::size_t count) {
    std::vector<Ended> ended(count);
    together(count, [&](distributed::Processes& all) {
        PartOfRun run(o, all);
        run.loop.run();
        ended[all.rank] = {run.weights(), run.loop.metrics().loss, run.loop.metrics().grad_norm,
                           run.loop.state().val_loss};
    });
    return ended;
}

void check_same(const train::TrainOptions& o) {
    const Ended one = trained_alone(o);
    CHECK(std::isfinite(one.val_loss));
    for (const std::size_t count : {2u, 4u}) {
        INFO(count << " processes, " << name_of(o.optimizer));
        for (const Ended& each : trained_together(o, count)) {
            CHECK_ALL(same_bits(each.weights, one.weights), each.loss == one.loss, each.norm == one.norm);
            CHECK(each.val_loss == one.val_loss);
        }
    }
}

}  // namespace

TEST_CASE("processes: 1, 2 and 4 train the same model, with every optimizer and setting", "[train][processes]") {
    for (const auto& [optimizer, name] : names(OptimizerKind{})) check_same(options_together(optimizer));
    train::TrainOptions o = options_together(OptimizerKind::muon);
    o.arch = "nanochat", o.dropout = 0.2, o.gradient_accumulation_steps = 2, o.ema = 0.9, o.eval_every = 3;
    o.precision = Precision::bf16, o.checkpoint_activations = true, o.muon_split_heads = true;
    check_same(o);
    o.shards = 8, o.optimizer = OptimizerKind::adamw, o.sampler = data::SamplerKind::shuffle;
    check_same(o);
}

TEST_CASE("processes: a model of many pieces, in which each has as much to do", "[train][processes][unsanitized]") {
    train::TrainOptions o = options_together(OptimizerKind::muon);
    o.n_embd = 128, o.n_layer = 3, o.max_iters = 2;
    check_same(o);
    PartOfRun run(o);
    nn::FlatParameters<float>& parameters = run.loop.step().parameters;
    const auto cost = [&](const auto& entry) { return train::whole_cost(o, entry); };
    const train::Partition all(parameters, 4, cost);
    std::size_t end = 0, cut = 0;
    std::vector<double> load(4, 0);
    for (const train::Piece& piece : all.pieces()) {
        CHECK(piece.begin == end);
        end = piece.end;
    }
    CHECK(end == parameters.values().size());
    for (const auto& entry : parameters.entries()) {
        const double whole = cost(entry);
        for (const train::Piece& piece : all.pieces()) {
            const std::size_t begin = std::max(piece.begin, entry.offset);
            const std::size_t last = std::min(piece.end, entry.offset + entry.parameter.size());
            if (begin >= last) continue;
            cut += whole > 0 && last - begin < entry.parameter.size();
            load[piece.owner] += whole > 0 ? whole : static_cast<double>(last - begin);
        }
    }
    CHECK(cut == 0);  // matrices of Muon are whole
    CHECK(*std::max_element(load.begin(), load.end()) < 1.3 * *std::min_element(load.begin(), load.end()));
}

TEST_CASE("processes: each sends what it must, and no more", "[train][processes]") {
    const train::TrainOptions o = options_together(OptimizerKind::adamw);
    std::vector<double> sent(4);
    double bytes = 0;
    together(4, [&](ThreadAsProcess& all) {
        PartOfRun run(o, all);
        run.loop.run_step();
        const std::size_t before = all.sent_bytes;
        run.loop.run_step();
        sent[all.rank] = static_cast<double>(all.sent_bytes - before);
        if (all.first()) bytes = 4 * static_cast<double>(run.loop.step().parameters.values().size());
    });
    // gradients that others own, and its own parameters to three others
    for (const double each : sent) CHECK(each == Approx(2 * bytes * 3 / 4).epsilon(0.1));
}

TEST_CASE("processes: the optimizer's state is in parts, and whole where it is saved and read", "[train][processes]") {
    for (const OptimizerKind optimizer : {OptimizerKind::adamw, OptimizerKind::muon}) {
        const ScratchFolder scratch;
        train::TrainOptions o = options_together(optimizer);
        o.ema = 0.5;
        const Ended whole = trained_alone(o);
        o.max_iters = 3;
        const auto run_in = [&](const std::string& out, std::size_t count, bool resume) {
            together(count, [&](distributed::Processes& all) {
                PartOfRun run(o, all);
                std::size_t held = 0;
                for (const auto& part : run.loop.step().optimizer->state()) held += part.range.size();
                CHECK_IN_THREAD(held < 3 * run.loop.step().parameters.values().size() * 2 / (2 * count));
                std::unique_ptr<train::RunFolder> folder;
                std::vector<train::Callback*> callbacks;
                std::optional<train::CheckpointSaver> saver;
                if (resume) {
                    const auto newest = train::find_checkpoints(out).front();
                    auto saved = models::load_model(newest, o.dropout);
                    copy_into(run.loop.step().parameters.values(), nn::FlatParameters<float>(*saved.model).values());
                    train::resume(run.loop, newest);
                }
                all.barrier();
                if (all.first()) {
                    folder = std::make_unique<train::RunFolder>(out);
                    callbacks.push_back(&saver.emplace(*folder, run.tokenizer, run.loop));
                }
                run.loop.run(callbacks);
                if (resume) CHECK_IN_THREAD(same_bits(run.weights(), whole.weights));
            });
        };
        run_in(scratch.path("two"), 2, false), run_in(scratch.path("four"), 4, false);
        const auto state = [&](const char* name) {
            return formats::read_file(scratch.path(name) + "/step-000003/model.safetensors");
        };
        CHECK(state("two") == state("four"));
        o.max_iters = 6;
        run_in(scratch.path("two"), 4, true), run_in(scratch.path("four"), 1, true);
    }
}

TEST_CASE("processes: a step that is not finite in one of them is refused by all", "[train][processes]") {
    train::TrainOptions o = options_together(OptimizerKind::adamw);
    o.max_iters = 3;
    std::vector<std::string> said(2);
    together(2, [&](distributed::Processes& all) {
        PartOfRun run(o, all);
        run.loop.run_step();
        const Array<float> before = run.weights();
        // only one process looks up these tokens
        if (all.rank == 1) run.loop.step().parameters.values().data()[3] = std::numeric_limits<float>::quiet_NaN();
        run.loop.run_step();
        CHECK_IN_THREAD(!std::isfinite(run.loop.metrics().grad_norm));
        said[all.rank] = run.loop.step().find_anomaly(1);
        if (all.first()) CHECK_IN_THREAD(same_bits(run.weights(), before));
    });
    CHECK(said[0] == said[1]);
    CHECK_THAT(said[0], contains("is not finite already"));
}

TEST_CASE("processes: one asked to stop stops all, and the first one's time is that of all", "[train][processes]") {
    train::TrainOptions o = options_together(OptimizerKind::sgd);
    o.max_iters = 1000, o.eval_every = 2;
    std::vector<std::size_t> steps(4);
    together(4, [&](distributed::Processes& all) {
        PartOfRun run(o, all);
        run.loop.run({}, [&] { return all.rank == 2 && run.loop.state().step >= 5; });
        CHECK_IN_THREAD(run.loop.stop_reason() == train::StopReason::interrupted);
        steps[all.rank] = run.loop.state().step;
    });
    CHECK_ALL(steps[0] >= 5, steps[0] < 9);
    for (const std::size_t each : steps) CHECK(each == steps[0]);
    train::TrainOptions timed = options_together(OptimizerKind::sgd);
    timed.max_iters = 1'000'000, timed.max_time = 0.2, timed.val_fraction = 0;
    std::vector<std::pair<std::size_t, double>> ends(2);
    together(2, [&](distributed::Processes& all) {
        PartOfRun run(timed, all);
        run.loop.run();
        CHECK_IN_THREAD(run.loop.stop_reason() == train::StopReason::max_time);
        ends[all.rank] = {run.loop.state().step, run.loop.state().train_s};
    });
    CHECK(ends[0] == ends[1]);
}

TEST_CASE("processes: shards are given out whole, texts of any size go round", "[train][processes]") {
    together(2, [&](distributed::Processes& all) {
        train::TrainOptions o = options_together(OptimizerKind::sgd);
        o.shards = 1;
        CHECK_IN_THREAD(error_of<Error>([&] { const PartOfRun run(o, all); }) ==
                        "--shards must be a multiple of the number of processes, got 1 and 2");
    });
    for (const std::size_t count : {1u, 2u, 3u, 5u, 8u}) {  // texts of any size go round
        together(count, [&](distributed::Processes& all) {
            std::string text = all.first() ? std::string(100'000, 'x') + "end" : "";
            all.broadcast(text);
            CHECK_IN_THREAD((text.size() == 100'003 && text.ends_with("xend")));
            const std::string own(all.rank, static_cast<char>('a' + all.rank));
            const std::vector<std::string> texts = all.gather_texts(own);
            for (std::size_t i = 0; i < count; ++i)
                CHECK_IN_THREAD(texts[i] == std::string(i, static_cast<char>('a' + i)));
        });
    }
}
