// Learning from other models' predictions (--teacher): its loss, its cost, and the same bits after resuming.
#include "train/step/teachers.h"

#include "tests/train/run.h"
#include "train/recipes/estimate.h"
#include "train/run/checkpoint.h"

namespace {

// Folders of models for the text letters(600).
struct School {
    ScratchFolder scratch;
    CharTokenizer tokenizer = CharTokenizer::from_text(letters(600));

    std::string write(const std::string& name, std::uint64_t seed, std::size_t more_tokens = 0,
                      TrainOptions o = small_options()) const {
        Transformer<float> model(o.model_config(tokenizer.vocab_size() + more_tokens), Generator{seed, 0});
        const fs::path path = scratch.path(name);
        fs::create_directories(path);
        save_model(path, model, tokenizer);
        return path.string();
    }
    TrainOptions options(std::vector<std::string> teacher, double weight) const {
        TrainOptions o = small_options();
        o.teacher = std::move(teacher), o.teacher_weight = weight;
        return o;
    }
};

IdArray two_rows(const std::vector<std::int32_t>& ids) {
    IdArray rows({2, 4});
    std::ranges::copy(ids, rows.data());
    return rows;
}
const IdArray kIds = two_rows({1, 2, 3, 0, 4, 2, 5, 1}), kTargets = two_rows({2, 3, kIgnore, 4, 2, 5, 1, kIgnore});

// -sum_j q_ij ln p_ij, meaned over the counted rows, with q from the probabilities of the teachers; in double.
double expected(const Transformer<float>& student, const std::vector<const Transformer<float>*>& teachers,
                double weight) {
    const auto row = [](const Transformer<float>& model, std::size_t i) {
        const Array<float> z = model.forward(kIds).value().contiguous().clone();
        const std::size_t V = z.dim(-1);
        std::vector<double> p(z.data() + i * V, z.data() + (i + 1) * V);
        double sum = 0;
        for (double& v : p) sum += v = std::exp(v);
        for (double& v : p) v /= sum;
        return p;
    };
    double total = 0, rows = 0;
    for (std::size_t i = 0; i < kTargets.size(); ++i) {
        const std::int32_t t = kTargets.data()[i];
        if (t == kIgnore) continue;
        const std::vector<double> p = row(student, i);
        total -= (1 - weight) * std::log(p[static_cast<std::size_t>(t)]);
        for (const auto* teacher : teachers) {
            const std::vector<double> q = row(*teacher, i);
            for (std::size_t j = 0; j < p.size(); ++j)
                total -= weight / static_cast<double>(teachers.size()) * q[j] * std::log(p[j]);
        }
        ++rows;
    }
    return total / rows;
}

}  // namespace

TEST_CASE("teachers: the loss is that of a mixture, and who predicts as its teacher learns nothing", "[train]") {
    const School school;
    const std::string a = school.write("a", 3), b = school.write("b", 4);
    const auto first = load_model(a), second = load_model(b);
    const Architecture config = first.model->config;
    Transformer<float> student(config, Generator{5, 0});
    const double weight = GENERATE(0.0, 0.3, 1.0);
    CAPTURE(weight);
    const auto loss = [&](const std::vector<std::string>& names) {
        const TrainOptions o = school.options(names, weight);
        return static_cast<double>(Teachers(o, config).loss(student, kIds, kTargets, nullptr, {}).item());
    };
    CHECK(loss({a}) == Approx(expected(student, {first.model.get()}, weight)).epsilon(1e-6));
    CHECK(loss({a, b}) == Approx(expected(student, {first.model.get(), second.model.get()}, weight)).epsilon(1e-6));
    const double plain = static_cast<double>(student.loss(kIds, kTargets).item());
    CHECK(loss({}) == plain);
    if (weight == 0) CHECK(loss({a}) == Approx(plain).epsilon(1e-6));
    // tokens that only the teacher has do not count
    const std::string wider = school.write("wider", 3, 2);
    CHECK(std::isfinite(loss({wider})));
    const std::string teacher = school.write("a", 3);
    const auto norm_after = [&](double part) {
        const TrainOptions o = school.options({teacher}, part);
        auto pupil = load_model(teacher).model;
        pupil->train();
        backward(Teachers(o, pupil->config).loss(*pupil, kIds, kTargets, nullptr, {}));
        double squares = 0;
        for (const auto& [name, p] : pupil->parameters())
            for (std::size_t i = 0; p.grad().defined() && i < p.size(); ++i)
                squares += std::pow(static_cast<double>(p.grad().contiguous().data()[i]), 2);
        return std::sqrt(squares);
    };
    CHECK_ALL(norm_after(1) < 1e-6, norm_after(0.5) > 1e-2);
}

TEST_CASE("teachers: a run goes on to the same bits, and only with the same teachers", "[train]") {
    const School school;
    TrainOptions o = school.options({school.write("a", 3), school.write("b", 4)}, 0.7);
    o.dropout = 0.1, o.max_iters = 6, o.shards = 2;
    TrainOptions shorter = o;
    shorter.max_iters = 3;
    Run straight(o), half(shorter);
    for (int i = 0; i < 6; ++i) straight.step();
    RunFolder folder(school.scratch.path("run"));
    half.to_end(&folder);
    const fs::path newest = folder.checkpoints().front();
    const auto rest = [&](const std::string& teacher) {
        TrainOptions changed = o;
        changed.teacher[1] = teacher;
        return std::make_unique<Run>(changed, letters(600), load_model(newest, o.dropout).model);
    };
    const auto same = rest(school.write("moved", 4));  // in another place
    same->model->train();
    static_cast<void>(same->resume(newest, true));
    for (int i = 0; i < 3; ++i) same->step();
    CHECK(same_bits(same->weights(), straight.weights()));
    const auto other = rest(school.write("other", 5));
    CHECK_THROWS_WITH(other->resume(newest), contains("its teachers had other weights than those of --teacher"));
}

TEST_CASE("teachers: estimates count them, and a run that has read them no longer needs their folders", "[train]") {
    const School school;
    TrainOptions large = small_options();
    large.n_layer = 2, large.n_embd = 64;
    const std::size_t tokens = school.tokenizer.vocab_size();
    const TrainOptions alone = school.options({}, 0.9),
                       taught = school.options({school.write("large", 3, 0, large)}, 0.9);
    const Architecture config = alone.model_config(tokens), teacher = large.model_config(tokens);
    const auto all = static_cast<double>(alone.tokens_per_step());
    CHECK(flops_per_step(taught, config) - flops_per_step(alone, config) == Approx(training_flops(teacher, all) / 3));
    CHECK(estimate(taught, config, 600).teacher_bytes >= 4 * static_cast<double>(parameter_count(teacher)));
    CHECK(estimate(alone, config, 600).teacher_bytes == 0);
    const std::string a = school.write("a", 3);
    Run run(school.options({a}, 0.7));
    run.step();
    fs::remove_all(a);
    CHECK_NOTHROW(run.step());
}
