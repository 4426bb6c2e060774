// FlatParameters: one buffer for all parameters and one for all gradients.
#include "nn/flat.h"

#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/positions.h"

namespace {

template <class T>
struct Net : nn::Module<T> {
    explicit Net(Generator random) : one(random, 3, 5), two(random, 5, 2), spare(random, 7, 1) {}
    nn::LayerNorm<T> norm{3};
    nn::Linear<T> one, two;
    nn::Linear<T> spare;  // takes no part in forward
    void visit(const nn::Visitor<T>& v) override { v("norm", norm), v("one", one), v("two", two), v("spare", spare); }
    Tensor<T> forward(const Tensor<T>& x) const { return two.forward(gelu(one.forward(norm.forward(x)))); }
};

}  // namespace

TEMPLATE_TEST_CASE("flat parameters: matrices first, each on 64 bytes, values kept", "[nn]", float, double) {
    Net<T> net({1, 0});
    std::map<std::string, Array<T>> before;
    for (const auto& [name, p] : net.parameters()) before.emplace(name, p.value().clone());
    nn::FlatParameters<T> flat(net);

    std::vector<std::string> order;
    std::size_t end = 0;
    for (const auto& e : flat.entries()) {
        INFO(e.name);
        order.push_back(e.name);
        CHECK_ALL(e.offset >= end, e.offset * sizeof(T) % 64 == 0);
        CHECK((e.parameter.rank() >= 2) == (e.offset < flat.matrix_elements()));
        CHECK(e.parameter.value().data() == flat.values().data() + e.offset);
        end = e.offset + e.parameter.size();
    }
    CHECK(order == std::vector<std::string>{"one.weight", "two.weight", "spare.weight", "norm.weight", "norm.bias",
                                            "one.bias", "two.bias", "spare.bias"});
    CHECK_ALL(reinterpret_cast<std::uintptr_t>(flat.values().data()) % 64 == 0, flat.values().size() >= end);
    CHECK(flat.matrix_elements() * sizeof(T) % 64 == 0);
    for (const auto& [name, p] : net.parameters()) WITH_INFO(name, CHECK(same_bits(before.at(name), p.value())));
    // the module computes with the buffer itself
    const Tensor<T> x(random_array<T>({4, 3}, 1));
    const Array<T> y = net.forward(x).value().clone();
    for (std::size_t i = 0; i < flat.values().size(); ++i) flat.values().data()[i] *= T{2};
    CHECK_FALSE(same_bits(net.forward(x).value(), y));
}

TEST_CASE("flat parameters: entries know what they are for, and a name used twice is refused", "[nn]") {
    struct Kinds : nn::Module<float> {
        explicit Kinds(Generator random) : table(random, 4, 3), positions(random, 5, 3), one(random, 3, 2) {}
        nn::Embedding<float> table;
        nn::LearnedPositions<float> positions;
        nn::Linear<float> one;
        Tensor<float> heads = nn::parameter<float>({6, 3}, 1);
        void visit(const nn::Visitor<float>& v) override {
            v("table", table), v("positions", positions), v("one", one), v("heads", heads, {nn::Role::matrix, 3, 2});
        }
    } module({1, 0});
    std::vector<std::pair<std::string, nn::Role>> roles;
    const nn::FlatParameters<float> flat(module);
    for (const auto& e : flat.entries()) roles.emplace_back(e.name, e.kind.role);
    using nn::Role;
    CHECK(roles == std::vector<std::pair<std::string, Role>>{{"table.weight", Role::embedding},
                                                             {"positions.weight", Role::embedding},
                                                             {"one.weight", Role::matrix},
                                                             {"heads", Role::matrix},
                                                             {"one.bias", Role::vector}});
    CHECK_ALL(flat.entries()[3].kind.stacked == 3, flat.entries()[3].kind.head_size == 2);
    CHECK_ALL(flat.entries()[2].kind.stacked == 1, flat.entries()[2].kind.head_size == 0);
    struct Twice : nn::Module<double> {
        Tensor<double> a = Tensor<double>::ones({2}, true), b = Tensor<double>::ones({2}, true);
        void visit(const nn::Visitor<double>& v) override { v("same", a), v("same", b); }
    } same_name;
    CHECK_THROWS_WITH(nn::FlatParameters<double>(same_name), contains("every name must be unique"));
    struct Tied : nn::Module<double> {
        Tensor<double> a = Tensor<double>::ones({2}, true), b = a;
        void visit(const nn::Visitor<double>& v) override { v("a", a), v("b", b); }
    } tied;
    CHECK_THROWS_WITH(nn::FlatParameters<double>(tied), contains("'a' and 'b' are one tensor"));
}

TEST_CASE("flat parameters: gradients are those of the single parameters, zero where nothing was reached", "[nn]") {
    Net<double> net({5, 0});
    const Tensor<double> x(normal({4, 3}, 1));
    const Array<double> dy = normal({4, 2}, 2);
    backward(net.forward(x), dy);
    std::map<std::string, Array<double>> expected;
    for (const auto& [name, p] : net.parameters()) expected.emplace(name, p.grad().clone());
    net.zero_grad();

    nn::FlatParameters<double> flat(net);
    backward(net.spare.forward(Tensor<double>(normal({2, 7}, 3))), Array<double>({2, 1}, 1.0));  // not reached below
    flat.zero_gradients();
    backward(net.forward(x), dy);
    const Array<double>& gradients = flat.gradients();
    for (const auto& e : flat.entries()) {
        INFO(e.name);
        const Array<double> got = gradients.sliced(0, e.offset, e.offset + e.parameter.size());
        CHECK(same_bits(got, expected.at(e.name).reshaped(got.shape())));
        if (e.name.starts_with("spare")) check_close(got, Array<double>(got.shape(), 0.0), 0);
    }
}

TEST_CASE("flat parameters: the gaps stay zero, and two backward calls add up to one of twice the cotangent", "[nn]") {
    Net<float> net({1, 0});
    nn::FlatParameters<float> flat(net);
    const auto others_than_zero = [](const auto& x) { return x.size() - std::count(x.begin(), x.end(), 0.0f); };
    for (int step = 0; step < 3; ++step) {
        flat.zero_gradients();
        backward(net.forward(Tensor<float>(random_array<float>({4, 3}, 8))), Array<float>({4, 2}, 1.0f));
        std::size_t values = 0, gradients = 0;
        const auto all_values = others_than_zero(flat.values()), all_gradients = others_than_zero(flat.gradients());
        for (const auto& e : flat.entries()) {
            values += others_than_zero(e.parameter.value());
            gradients += others_than_zero(e.parameter.grad());
        }
        CHECK_ALL(values == all_values, gradients == all_gradients);
    }
    Net<double> other({1, 0});
    nn::FlatParameters<double> of_other(other);
    const Tensor<double> x(normal({4, 3}, 1)), x2(normal({4, 3}, 9));
    const Array<double> dy = normal({4, 2}, 2);
    const auto run = [&](std::initializer_list<const Tensor<double>*> parts) {
        of_other.zero_gradients();
        for (const Tensor<double>* part : parts) backward(other.forward(*part), dy);
        return of_other.gradients().clone();
    };
    const Array<double> first = run({&x}), second = run({&x2}), both = run({&x, &x2}), twice = run({&x, &x});
    check_close(twice, Array<double>(first + first), 1e-15), check_close(both, Array<double>(first + second), 1e-14);
    CHECK(same_bits(run({&x}), first));  // and nothing is left over
}
