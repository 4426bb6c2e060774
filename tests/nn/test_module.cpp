// Modules: the names and the order in which parameters are listed, training and evaluation mode of whole trees, and
// initial values.
#include "nn/module.h"

#include "nn/attention/multi_head.h"
#include "nn/attention/scores.h"
#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/sequential.h"
#include "tests/models/architectures.h"

namespace {

struct Inner : nn::Module<double> {
    explicit Inner(Generator& random) : up(random, 2, 3), down(random, 3, 2, false) {}
    nn::Linear<double> up, down;
    nn::Dropout<double> drop{0.5};
    void visit(const nn::Visitor<double>& v) override { v("up", up), v("down", down), v("drop", drop); }
};

struct Outer : nn::Module<double> {
    explicit Outer(Generator& random) : first(random), second(random) {}
    Tensor<double> gain = nn::parameter<double>({4}, 1.0);
    Inner first, second;
    void visit(const nn::Visitor<double>& v) override { v("second", second), v("gain", gain), v("first", first); }
};

template <class T>
std::vector<std::string> names(nn::Module<T>& module) {
    std::vector<std::string> result;
    for (const auto& [name, p] : module.parameters()) result.push_back(name);
    return result;
}

}  // namespace

TEST_CASE("module: parameters in the order of visit, with dotted names, without undefined ones or biases", "[nn]") {
    Generator random{1, 0};
    Outer outer(random);
    CHECK(names(outer) == std::vector<std::string>{"second.up.weight", "second.up.bias", "second.down.weight", "gain",
                                                   "first.up.weight", "first.up.bias", "first.down.weight"});
    CHECK(outer.parameter_count() == 2 * (6 + 3 + 6) + 4);
    // handles on the parameters themselves, not on copies
    outer.parameters()[3].second.value_in_place().data()[0] = 7;
    CHECK(outer.gain.value().data()[0] == 7);
    using Names = std::vector<std::string>;
    nn::MLP<float> mlp(random, 4, 8, 0.0, false);
    nn::LayerNorm<float> norm(4, false);
    nn::MultiHeadAttention<float> packed(random, {.width = 6, .context_length = 5, .num_heads = 2, .dropout = 0.0});
    CHECK(names(mlp) == Names{"c_fc.weight", "c_proj.weight"});
    CHECK_ALL(names(norm) == Names{"weight"}, packed.buffers().empty());
}

TEST_CASE("module: train and eval reach every child, and zero_grad every parameter", "[nn]") {
    Generator random{1, 0};
    Outer outer(random);
    const auto modes = [&] {  // of all modules, their children before the next of the same depth
        std::string all(1, outer.training() ? 'T' : 'e');
        outer.visit({.on_module = [&](const std::string&, auto& child) { all += child.training() ? 'T' : 'e'; }});
        return all;
    };
    CHECK(modes() == "TTTTTTTTT");
    outer.eval();
    CHECK(modes() == "eeeeeeeee");
    outer.first.train();
    CHECK(modes() == "eeeeeTTTT");
    outer.train();
    CHECK(modes() == "TTTTTTTTT");

    nn::AdditiveAttention<float> additive(random, 4, 3, 8, 0.5);  // its parts are named as if they were its own
    CHECK(names(additive) == std::vector<std::string>{"W_k.weight", "W_q.weight", "w_v.weight"});
    additive.eval();
    CHECK_ALL(!additive.dropout.training(), !additive.score->training());
    Inner inner(random);
    backward(inner.down.forward(inner.up.forward(Tensor<double>(normal({4, 2}, 1)))), Array<double>({4, 2}, 1.0));
    const auto with_gradient = [&] {
        int n = 0;
        for (const auto& [name, p] : inner.parameters()) n += !same_bits(p.grad(), Array<double>(p.shape(), 0.0));
        return n;
    };
    CHECK(with_gradient() == 3);
    inner.zero_grad();
    CHECK(with_gradient() == 0);
}

TEST_CASE("init: layers begin as PyTorch's do, by the generator's state, whatever the threads", "[nn]") {
    Generator random{3, 0};
    nn::Linear<float> linear(random, 100, 400);
    const double bound = 1.0 / std::sqrt(100.0);
    for (const auto& [name, p] : linear.parameters()) {
        INFO(name);
        const auto [least, most] = std::minmax_element(p.value().data(), p.value().data() + p.size());
        CHECK_ALL(*least >= -bound, *most <= bound, *most > 0.95 * bound, (*least < -0.95 * bound));
        CHECK(deviation_of(p.value()) == Approx(bound / std::sqrt(3.0)).epsilon(0.1));
    }
    nn::Embedding<float> table(random, 200, 100);
    CHECK(mean_of(table.weight.value()) == Approx(0).margin(0.03));
    CHECK(deviation_of(table.weight.value()) == Approx(1).epsilon(0.02));
    Tensor<float> p = nn::parameter<float>({100, 100}, nn::Initial::normal(0.02), random);
    CHECK_ALL(p.requires_grad(), deviation_of(p.value()) == Approx(0.02).epsilon(0.03));
    nn::fill(p, nn::Initial::normal(3), random);
    CHECK(deviation_of(p.value()) == Approx(3).epsilon(0.03));
    const auto make = [](int threads) {
        const Threads scope(threads);
        Generator again{11, 0};
        nn::Linear<float> a(again, 64, 64), b(again, 64, 64);
        return std::vector<ConstArray<float>>{a.weight.value(), a.bias.value(), b.weight.value()};
    };
    const auto one = make(1), many = make(5);
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(same_bits(one[i], many[i]));
    CHECK_FALSE(same_bits(one[0], one[2]));
    Generator again{12, 0};
    CHECK_FALSE(same_bits(nn::Linear<float>(again, 64, 64).weight.value(), one[0]));
}

TEST_CASE("module: to_string is a tree with types, shapes and counts, and shows neighbours alike once", "[nn]") {
    Generator random{1, 0};
    Outer outer(random);
    CHECK(outer.to_string() == R"(Outer(gain (4,)  # 34 parameters
  (second): Inner(  # 15
    (up): Linear(weight (3, 2), bias (3,))  # 9
    (down): Linear(weight (2, 3))  # 6
    (drop): Dropout()
  )
  (first): Inner(  # 15
    (up): Linear(weight (3, 2), bias (3,))  # 9
    (down): Linear(weight (2, 3))  # 6
    (drop): Dropout()
  )
))");
    outer.first.up.bias = Tensor<double>();
    outer.first.freeze([](const std::string& name) { return name == "up.weight"; });
    CHECK(outer.to_string().find("    (up): Linear(weight (3, 2) frozen)  # 6\n") != std::string::npos);
    CHECK(nn::LayerNorm<float>(4).to_string() == "LayerNorm(weight (4,), bias (4,))  # 8 parameters");
    CHECK(nn::Dropout<float>(0.1).to_string() == "Dropout()  # 0 parameters");
    nn::Sequential<float> net;  // to_string shows neighbours that are numbered and alike once
    for (int i = 0; i < 3; ++i) net.add(nn::Linear<float>(random, 2, 2));
    net.add(relu<float>);
    for (int i = 0; i < 2; ++i) net.add(nn::Linear<float>(random, 2, 2));
    net.add(nn::Sequential<float>(nn::Linear<float>(random, 2, 1, false)));
    CHECK(net.to_string() == R"(Sequential(  # 32 parameters
  (0-2): 3 x Linear(weight (2, 2), bias (2,))  # 6 each
  (3): Function()
  (4-5): 2 x Linear(weight (2, 2), bias (2,))  # 6 each
  (6): Sequential(  # 2
    (0): Linear(weight (1, 2))  # 2
  )
))");
    nn::AdditiveAttention<double> attention(random, 2, 3, 4, 0.1);
    CHECK(attention.to_string() == R"(AdditiveAttention(  # 24 parameters
  (score): AdditiveScore()
  (dropout): Dropout()
  (W_k): Linear(weight (4, 2))  # 8
  (W_q): Linear(weight (4, 3))  # 12
  (w_v): Linear(weight (1, 4))  # 4
))");
}

TEST_CASE("init: parameters are set by name, the first rule that fits", "[nn]") {
    Generator random{1, 0};
    Outer outer(random);
    Generator keys{4, 0};
    using nn::Initial;
    nn::initialize(
        outer, keys,
        {{"*bias", Initial::constant(0.5)}, {"first.up.*", Initial::normal(2)}, {"second.*", Initial::uniform(0.1)}});
    CHECK(keys.next_stream == 3);  // second.up.weight, second.down.weight, first.up.weight
    for (const auto& [name, p] : outer.parameters()) {
        INFO(name);
        if (name.ends_with("bias")) check_equal(p.value(), {0.5, 0.5, 0.5});
        if (name == "gain") check_equal(p.value(), {1, 1, 1, 1});
    }
    Generator second{4, 1};  // the keys of the last two
    CHECK(same_bits(outer.second.down.weight.value(),
                    nn::parameter<double>({2, 3}, Initial::uniform(0.1), second).value()));
    CHECK(same_bits(outer.first.up.weight.value(), nn::parameter<double>({3, 2}, Initial::normal(2), second).value()));
    const Array<double> before = outer.gain.value().clone();
    CHECK_THROWS_WITH(nn::initialize(outer, keys, {{"*", Initial::constant(9)}, {"*.wieght", Initial::normal(1)}}),
                      contains("initialize: '*.wieght' fits the name of no parameter"));
    CHECK_ALL(same_bits(outer.gain.value(), before), outer.gain.requires_grad());
}
