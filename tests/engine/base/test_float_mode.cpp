// A host program may turn on FTZ and DAZ, and new memory may hold any bytes: neither changes results.
#include "engine/base/float_mode.h"

#include "engine/gradcheck/op_cases.h"

namespace {

// Sets FTZ and DAZ, as programs built with -ffast-math do when they start.
struct SmallNumbersAreZero {
    FloatMode before = FloatMode::current();
    SmallNumbersAreZero() { before.flushing().set(); }
    ~SmallNumbersAreZero() { before.set(); }
};

}  // namespace

TEST_CASE("float mode: threads of a loop have that of their caller", "[engine]") {
    const Threads scope(4);
    const FloatMode usual = FloatMode::current();
    const auto all_have = [](const FloatMode& mode) {
        std::vector<char> same(4000);
        parallel_for(same.size(), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) same[i] = FloatMode::current() == mode;
        });
        return std::count(same.begin(), same.end(), 1) == 4000;
    };
    CHECK(all_have(usual));  // which starts them, where none were
    {
        const SmallNumbersAreZero fast;
        CHECK_ALL(all_have(usual.flushing()), !all_have(usual));
        const StandardNumbers standard;
        CHECK(all_have(FloatMode::standard()));
    }
    CHECK_ALL(all_have(usual), FloatMode::current() == usual);
}

TEST_CASE("float mode: an op gives the same bits on 1 and on 4 threads, whatever its caller's mode is", "[engine]") {
    Array<float> small = random_array<float>({64, 4096}, 1);
    small *= 1e-20f;
    const auto product = [&] {
        return (Tensor<float>(small) * Tensor<float>(small)).value().clone();  // most are too small to be normal
    };
    for (const bool fast : {false, true}) {
        std::optional<SmallNumbersAreZero> scope;
        if (fast) scope.emplace();
        const Threads one(1);
        const Array<float> expected = product();
        const Threads four(4);
        CHECK_ALL(same_bits(product(), expected), (std::count(expected.begin(), expected.end(), 0.0f) > 1000) == fast);
    }
}

TEST_CASE("poison: no op reads memory that it has not written", "[engine]") {
    const bool before = poison_new_buffers;
    for (const OpCase<float>& row : op_cases<float>()) {
        INFO(row.name);
        const auto results = [&](bool poison) {
            poison_new_buffers = poison;
            typename OpCase<float>::In in;
            for (const Array<double>& x : row.inputs.at(0)) in.emplace_back(cast<float>(x), true);
            const Tensor<float> y = row.function(in);
            std::vector<Array<float>> all{y.value().clone()};
            if (y.requires_grad()) y.backward(random_array<float>(y.shape(), 9));
            for (const Tensor<float>& x : in) all.push_back(x.grad().clone());
            return all;
        };
        const auto plain = results(false), poisoned = results(true);
        for (std::size_t i = 0; i < plain.size(); ++i) CHECK(same_bits(plain[i], poisoned[i]));
    }
    poison_new_buffers = true;
    CHECK(std::isnan(Array<float>({3}).data()[1]));
    poison_new_buffers = before;
}
