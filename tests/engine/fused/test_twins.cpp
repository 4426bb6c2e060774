// Each fused op computes what its plain twin says: values, gradients and second derivatives, on ragged shapes.
#include "engine/gradcheck/op_cases.h"
#include "engine/ops/plain/attention.h"
#include "engine/ops/plain/plain.h"

namespace {

using D = Tensor<double>;
using In = std::vector<D>;

struct Twins {
    std::string name;
    std::vector<Shape> shapes;  // of the inputs
    std::function<D(const In&)> fused, plain;
};

void add_norms(std::vector<Twins>& all) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 5, 7}, Shape{67, 19}}) {
        const Shape width{shape.back()};
        all.push_back({"layer_norm",
                       {shape, width, width},
                       [](const In& x) { return layer_norm(x[0], x[1], x[2]); },
                       [](const In& x) { return plain::layer_norm(x[0], x[1], x[2]); }});
        all.push_back({"layer_norm, no gain",
                       {shape},
                       [](const In& x) { return layer_norm(x[0], {}, {}); },
                       [](const In& x) { return plain::layer_norm(x[0], {}, {}); }});
        all.push_back({"rms_norm",
                       {shape, width},
                       [](const In& x) { return rms_norm(x[0], x[1], 1e-3); },
                       [](const In& x) { return plain::rms_norm(x[0], x[1], 1e-3); }});
    }
}

void add_linear(std::vector<Twins>& all) {
    for (const Shape& shape : {Shape{7}, Shape{3, 7}, Shape{2, 3, 7}, Shape{0, 7}}) {
        all.push_back({"linear",
                       {shape, {11, 7}, {11}},
                       [](const In& x) { return linear(x[0], x[1], x[2]); },
                       [](const In& x) { return plain::linear(x[0], x[1], x[2]); }});
        all.push_back({"linear, no bias",
                       {shape, {11, 7}},
                       [](const In& x) { return linear(x[0], x[1]); },
                       [](const In& x) { return plain::linear(x[0], x[1]); }});
        Shape out = shape;
        out.back() = 5;
        all.push_back({"add_low_rank",
                       {out, shape, {2, 7}, {5, 2}},
                       [](const In& x) { return add_low_rank(x[0], x[1], x[2], x[3], 0.7); },
                       [](const In& x) { return x[0] + plain::linear(plain::linear(x[1], x[2]), x[3]) * 0.7; }});
    }
    const IdArray ids = some_ids({3, 5}, 9);
    all.push_back({"embedding",
                   {{9, 7}},
                   [=](const In& x) { return embedding(ids, x[0]); },
                   [=](const In& x) { return plain::embedding(ids, x[0]); }});
}

void add_rotary(std::vector<Twins>& all) {
    const IdArray positions = some_ids({2, 5}, 6);
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved})
        for (const IdArray& at : {IdArray(), positions})
            for (const std::size_t d : {6, 8}) {
                const auto table = rotary_table<double>(rotary_rates(6, 100.0), 0, 6);
                all.push_back({"rotate",
                               {{2, 3, 5, d}},
                               [=](const In& x) { return rotate(x[0], table, at, pairs); },
                               [=](const In& x) { return plain::rotate(x[0], table, at, pairs); }});
            }
}

void add_attention(std::vector<Twins>& all) {
    MaskArray mask({2, 1, 5, 7}, 1);
    for (std::size_t i = 0; i < mask.size(); i += 3) mask.data()[i] = 0;
    for (std::size_t i = 14; i < 21; ++i) mask.data()[i] = 0;  // a query that sees nothing
    IdArray begins({2, 5}, 0);
    for (std::size_t i = 2; i < 5; ++i) begins(1, i) = 2;
    struct Row {
        const char* name;
        AttentionOptions options;
        std::size_t keys = 7;
    };
    for (const Row& row :
         {Row{"plain", {}}, Row{"causal", {.scale = 0.4, .causal = true}},
          Row{"masked", {.mask = mask, .masked = Masked::uniform}},
          Row{"masked, zeros", {.mask = mask, .masked = Masked::zero}},
          Row{"ALiBi", {.causal = true, .alibi = {0.5, 0.25, 0.1, 0.05}}}, Row{"window", {.causal = true, .window = 3}},
          Row{"documents", {.causal = true, .documents = begins}, 5},
          Row{"dropout", {.causal = true, .dropout = 0.3, .dropout_key = {5, 1}}}})
        for (const std::size_t shared : {1, 2}) {  // heads of queries for one of keys
            const Shape k{2, 4 / shared, row.keys, 6}, v{2, 4 / shared, row.keys, 3};
            all.push_back({fmt::format("attention, {}", row.name),
                           {{2, 4, 5, 6}, k, v},
                           [=](const In& x) { return attention(x[0], x[1], x[2], row.options); },
                           [=](const In& x) { return plain::attention(x[0], x[1], x[2], row.options).output; }});
        }
}

void add_losses(std::vector<Twins>& all) {
    IdArray targets = some_ids({3, 2}, 7);
    targets.data()[1] = kIgnore;
    const std::vector<double> weight{1, 2, 0.5, 1, 0, 3, 1};
    for (const CrossEntropyOptions& o : {CrossEntropyOptions{},
                                         {.weight = weight},
                                         {.label_smoothing = 0.2},
                                         {.weight = weight, .label_smoothing = 0.2},
                                         {.reduction = Reduction::sum},
                                         {.weight = weight, .reduction = Reduction::none, .label_smoothing = 0.1}})
        all.push_back({"cross_entropy",
                       {{3, 2, 7}},
                       [=](const In& x) { return cross_entropy(x[0], targets, o); },
                       [=](const In& x) { return plain::cross_entropy(x[0], targets, o); }});
    for (const std::size_t rows : {1, 7, 33})
        for (const std::size_t vocabulary : {1, 2, 17, 130}) {
            IdArray classes = some_ids({rows}, vocabulary);
            if (rows > 2) classes.data()[1] = kIgnore;
            for (const std::size_t block : {1, 5, 16, 64, 1000}) {
                const double cap = block % 2 ? 1.5 : 0;
                all.push_back(
                    {fmt::format("linear_cross_entropy, {} classes by {}", vocabulary, block),
                     {{rows, 12}, {vocabulary, 12}},
                     [=](const In& x) { return linear_cross_entropy(x[0], x[1], classes, kIgnore, block, cap); },
                     [=](const In& x) {
                         const D z = plain::linear(x[0], x[1]);
                         return plain::cross_entropy(cap > 0 ? softcap(z, cap) : z, classes, {});
                     }});
            }
        }
}

// The value, the gradients under a random dy, and those of a sum of squares of these gradients.
std::vector<ConstArray<double>> derivatives(const std::function<D(const In&)>& f, const In& x) {
    const D y = f(x);
    std::vector<ConstArray<double>> all{y.value()};
    const D dy(normal(y.shape(), 77));
    for (const D& g : gradients(y, x, {.dy = dy, .keep_graph = true})) all.push_back(g.value());
    D squares = D::zeros({});
    for (const D& g : gradients(y, x, {.dy = dy, .create_graph = true})) squares = squares + sum(g * g);
    if (squares.requires_grad())  // embedding is linear
        for (const D& g : gradients(squares, x)) all.push_back(g.value());
    return all;
}

}  // namespace

TEST_CASE("fused: values, gradients and second derivatives are those of the plain twins", "[engine]") {
    std::vector<Twins> all;
    add_norms(all), add_linear(all), add_rotary(all), add_attention(all), add_losses(all);
    CHECK(all.size() > 45);
    for (const Twins& twins : all) {
        INFO(twins.name << " of " << to_string(twins.shapes[0]));
        In x;
        for (const Shape& shape : twins.shapes) x.emplace_back(normal(shape, x.size() + 3), true);
        const auto fused = derivatives(twins.fused, x), plain = derivatives(twins.plain, x);
        REQUIRE(fused.size() == plain.size());
        for (std::size_t i = 0; i < fused.size(); ++i) check_close(fused[i], plain[i], 1e-10);
    }
}
