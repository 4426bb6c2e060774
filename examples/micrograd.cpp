// The expression of micrograd's README (https://github.com/karpathy/micrograd), with its value and its gradients.
//   micrograd                                        24.7041, 138.8338, 645.5773
//   micrograd graph.dot && dot -Tsvg graph.dot       a picture of its graph
#include <inkling/engine/autograd/debug/graph_picture.h>
#include <inkling/engine/ops.h>

#include <cstdio>
#include <fstream>

int main(int argc, char** argv) {
    using namespace inkling;
    const auto a = Tensor<double>::from(-4.0, true), b = Tensor<double>::from(2.0, true);
    auto c = a + b;
    auto d = a * b + pow(b, 3);
    c += c + 1;
    c += 1 + c + (-a);
    d += d * 2 + relu(b + a);
    d += 3 * d + relu(b - a);
    auto e = c - d;
    auto f = pow(e, 2);
    auto g = f / 2.0;
    g += 10.0 / f;
    if (argc > 1) std::ofstream(argv[1]) << to_dot(g, {{"a", a}, {"b", b}, {"g", g}});

    std::printf("g        %.4f\n", g.item());
    g.backward();
    std::printf("dg / da  %.4f\n", a.grad()());
    std::printf("dg / db  %.4f\n", b.grad()());
}
