// --shards: a batch in equal parts, whose gradients are added as a balanced tree.
#include "engine/autograd/backward.h"
#include "tests/train/run.h"
#include "train/sharding/pairwise_sum.h"

static TrainOptions sharded_options(std::size_t shards) {
    TrainOptions o = small_options();
    o.n_layer = 2, o.batch_size = 8, o.shards = shards, o.max_iters = 6;
    return o;
}

static Array<float> numbers(std::size_t n, std::uint64_t stream) {
    Array<float> x({n});
    for (std::size_t i = 0; i < n; ++i) x.data()[i] = static_cast<float>(random_normal({7, stream}, i));
    return x;
}

TEST_CASE("shards: the sum of parts is a balanced tree, to the last bit", "[train][shards]") {
    constexpr std::size_t kSize = 70'001;
    std::vector<Array<float>> parts;
    for (std::uint64_t i = 0; i < 8; ++i) parts.push_back(numbers(kSize, i));
    PairwiseSum sum;
    for (int again = 0; again < 2; ++again) {  // its memory is used again
        sum.clear();
        for (std::size_t i = 0; i < 7; ++i) sum.push(parts[i]);
        Array<float> last = parts[7].clone();
        sum.add_to(last.data(), 0, 40'000), sum.add_to(last.data(), 40'000, kSize);
        std::size_t other = 0, in_order = 0;
        for (std::size_t i = 0; i < kSize; ++i) {
            const auto g = [&](std::size_t p) { return parts[p].data()[i]; };
            const float left = (g(0) + g(1)) + (g(2) + g(3)), right = (g(4) + g(5)) + (g(6) + g(7));
            other += last.data()[i] != left + right;
            in_order += last.data()[i] != ((((((g(0) + g(1)) + g(2)) + g(3)) + g(4)) + g(5)) + g(6)) + g(7);
        }
        CHECK_ALL(other == 0, in_order > 0);
    }
}

TEST_CASE("shards: a step's gradient is the tree of the gradients of its rows", "[train][shards]") {
    const std::size_t shards = 4;
    const TrainOptions o = sharded_options(shards);
    Run run(o);
    const Array<float> before = run.weights();
    run.step();
    const Array<float> gradients = run.parameters().gradients().clone();

    Run other(o);
    REQUIRE(same_bits(other.weights(), before));
    const auto sampler = make_sampler(o.sampler, other.loop.text().train, o.batch_size, o.block_size, o.seed, nullptr);
    Batch batch;
    sampler->fill(0, batch);  // of whole steps
    const std::size_t part = o.batch_size / shards;
    std::vector<Array<float>> parts;
    double loss = 0;
    for (std::size_t i = 0; i < shards; ++i) {
        other.parameters().zero_gradients();
        const auto rows = [&](const IdArray& ids) { return ids.sliced(0, i * part, (i + 1) * part).clone(); };
        const Tensor<float> y = other.model->loss(rows(batch.inputs), rows(batch.targets));
        loss += static_cast<double>(y.item()) / 4;
        backward(y);
        parts.push_back(other.parameters().gradients().clone());
    }
    CHECK(run.metrics().loss == loss);
    std::size_t different = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const auto g = [&](std::size_t p) { return parts[p].data()[i] / 4; };
        different += gradients.data()[i] != (g(0) + g(1)) + (g(2) + g(3));
    }
    CHECK(different == 0);
}

TEST_CASE("shards: runs differ in rounding alone, and not at all between numbers of threads", "[train][shards]") {
    const auto trained = [](std::size_t shards, int threads, double& loss) {
        const Threads scope(threads);
        TrainOptions o = sharded_options(shards);
        o.gradient_accumulation_steps = 2;
        Run run(o);
        for (int i = 0; i < 6; ++i) loss = run.step();
        return run.weights();
    };
    double whole = 0, loss = 0;
    const Array<float> one = trained(1, 2, whole);
    for (const std::size_t shards : {2u, 4u, 8u}) {
        const Array<float> weights = trained(shards, 2, loss);
        CHECK_ALL(!same_bits(weights, one), std::abs(loss - whole) < 1e-5);
        double none = 0;
        CHECK_ALL(same_bits(trained(shards, 3, none), weights), none == loss);
    }
}

TEST_CASE("shards: each part has dropout of its own, and numbers that make no sense are refused", "[train][shards]") {
    TrainOptions o = sharded_options(4);
    o.dropout = 0.5, o.learning_rate = 0, o.min_lr = 0;
    const std::string same_rows(400, 'a');  // every row is the same
    Run run(o, same_rows + "b");
    o.shards = 1, o.batch_size = 2;
    Run alone(o, same_rows + "b");
    const double four = run.step();
    std::vector<double> steps;
    for (int i = 0; i < 4; ++i) steps.push_back(alone.step());
    CHECK_ALL(steps[0] != steps[1], std::abs(four - (steps[0] + steps[1] + steps[2] + steps[3]) / 4) < 1e-9);
    TrainOptions wrong = small_options();  // numbers that make no sense are refused
    for (const std::size_t shards : {0u, 3u, 8192u}) {
        wrong.shards = shards;
        CHECK_THROWS_WITH(wrong.validate(), contains("--shards must be a power of two"));
    }
    wrong.shards = 8;  // of 4 rows
    CHECK_THROWS_WITH(wrong.validate(), contains("--batch-size must be a multiple of --shards"));
    wrong.batch_size = 16;
    wrong.validate();
    CHECK(wrong.rows_per_shard() == 2);
}
