// Frozen parameters: no gradient, no place in the flat buffers, and no effect on the others.
#include "nn/embedding.h"
#include "nn/flat.h"
#include "nn/gradcheck.h"
#include "nn/mlp.h"
#include "nn/norm.h"

namespace {

template <class T>
struct PartlyFrozen : nn::Module<T> {
    explicit PartlyFrozen(Generator random) : table(random, 7, 8), mlp(random, 8, 16, 0.0), head(random, 8, 3) {}
    Tensor<T> forward(const Tensor<T>& x) const { return head.forward(norm.forward(add(x, mlp.forward(x)))); }
    void visit(const nn::Visitor<T>& v) override { v("table", table), v("norm", norm), v("mlp", mlp), v("head", head); }
    nn::Embedding<T> table;
    nn::LayerNorm<T> norm{8};
    nn::MLP<T> mlp;
    nn::Linear<T> head;
};

}  // namespace

TEST_CASE("freeze: what is named, or all, keeps its value, and other gradients are right", "[nn]") {
    PartlyFrozen<float> net({1, 0});
    const std::size_t count = net.parameter_count(), listed = net.parameters().size();
    const Array<float> before = net.mlp.c_fc.weight.value().clone();
    net.freeze([](const std::string& name) { return name.starts_with("mlp.") || name.starts_with("table."); });
    CHECK_ALL(net.parameter_count() == count, net.parameters().size() == listed);
    CHECK(same_bits(net.mlp.c_fc.weight.value(), before));
    nn::FlatParameters<float> flat(net);
    std::vector<std::string> trained;
    for (const auto& e : flat.entries()) trained.push_back(e.name);
    CHECK(trained == std::vector<std::string>{"head.weight", "norm.weight", "norm.bias", "head.bias"});
    CHECK(flat.frozen().size() == 5);
    CHECK(flat.values().size() == 32 + 3 * 16);  // 3 x 8 numbers, and three vectors, each from 64 bytes on
    CHECK(flat.gradients().size() == flat.values().size());
    backward(net.forward(Tensor<float>(random_array<float>({5, 8}, 1))), random_array<float>({5, 3}, 2));
    for (const auto& [name, p] : net.parameters()) {
        INFO(name);
        const bool is_trained = std::find(trained.begin(), trained.end(), name) != trained.end();
        CHECK(p.requires_grad() == is_trained);
        if (is_trained) CHECK(p.node()->has_grad);
    }
    CHECK_THROWS_WITH(net.mlp.c_fc.weight.grad(), contains("no gradient was asked for"));
    net.freeze();
    CHECK_THROWS_WITH(nn::FlatParameters<float>(net), contains("nothing is to be trained"));
    const auto error = [](auto&& which) {
        PartlyFrozen<double> partly({1, 0});
        partly.freeze(which);
        const auto f = [&](const Inputs& in, Generator*) { return partly.forward(in[0]); };
        return nn::module_gradient_error(partly, f, {normal({4, 8}, 41)});
    };
    CHECK(error([](const std::string&) { return true; }) < 1e-7);
    CHECK(error([](const std::string& name) { return name.ends_with("weight"); }) < 1e-7);
    CHECK(error([](const std::string& name) { return name.ends_with("bias"); }) < 1e-7);
    CHECK(error([](const std::string& name) { return name.starts_with("mlp."); }) < 1e-7);
}
