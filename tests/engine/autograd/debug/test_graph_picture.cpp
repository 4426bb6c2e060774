// Pictures of graphs.
#include "engine/autograd/debug/graph_picture.h"

TEST_CASE("graph_picture: a small graph, node by node", "[engine]") {
    const auto a = Tensor<double>::from({{1, 2}}, true), b = Tensor<double>::from({{3}, {4}}, true);
    const Tensor<double> c = a * b, y = sum(tanh(c) + c);
    CHECK(to_dot(y, {{"a", a}, {"the \"b\"", b}, {"c", c}}) == R"dot(digraph {
    rankdir=LR
    node [shape=box]
    0 [label="a\n(1, 2)", shape=ellipse]
    1 [label="the \"b\"\n(2, 1)", shape=ellipse]
    2 [label="c = mul\n(2, 2)"]
    0 -> 2
    1 -> 2
    3 [label="tanh\n(2, 2)"]
    2 -> 3
    4 [label="add\n(2, 2)"]
    3 -> 4
    2 -> 4
    5 [label="sum\n()"]
    4 -> 5
}
)dot");
    CHECK(to_dot(a) ==
          "digraph {\n    rankdir=LR\n    node [shape=box]\n"
          "    0 [label=\"leaf\\n(1, 2)\", shape=ellipse]\n}\n");
}

TEST_CASE("graph_picture: constants are left out, a released graph is refused, and depth is no limit", "[engine]") {
    const auto x = Tensor<double>::from({1, 2}, true), fixed = Tensor<double>::from({3, 4});
    const Tensor<double> y = sum(x * fixed);
    CHECK_ALL(to_dot(y).find("0 -> 1") != std::string::npos, to_dot(y).find("2 -> 3") == std::string::npos);
    CHECK_THROWS_WITH(to_dot(fixed), contains("to_dot: the tensor does not depend"));
    y.backward();
    CHECK_THROWS_WITH(to_dot(y), contains("to_dot: the graph behind 'sum' was already run and released"));
    const auto one = Tensor<double>::from(1, true);  // 100,000 ops in a row
    Tensor<double> many = one;
    for (int i = 0; i < 100000; ++i) many = many + one;
    const std::string long_dot = to_dot(many);
    CHECK(long_dot.find("\n    99999 -> 100000\n") != std::string::npos);
    CHECK(long_dot.find("\n    0 -> 100000\n") != std::string::npos);
}
