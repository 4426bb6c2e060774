// Products of matrices, and the parts of a transformer.
#include "engine/base/precision.h"
#include "engine/gradcheck/op_cases.h"
#include "engine/ops.h"

namespace inkling {
namespace {

template <class T>
auto attend(const AttentionOptions& options) {
    using V = const Tensor<T>&;
    return [options](V q, V k, V v) { return attention(q, k, v, options); };
}

template <class T>
void add_attention(OpCases<T>& all) {
    using V = const Tensor<T>&;
    const auto add = [&](const std::string& name, const std::string& shapes, const AttentionOptions& options) {
        all.add("attention" + name, {shapes, Nan::products}, attend<T>(options));
    };
    MaskArray keys({2, 1, 1, 5}, 1), spots({1, 1, 3, 5}, 1);
    keys.data()[3] = keys.data()[9] = spots.data()[1] = spots.data()[9] = 0;
    add("", "1x2x3x4 1x2x5x4 1x2x5x2", {});
    add(" scale", "2x2x3x4 2x2x5x4 2x2x5x3 | 1x2x4x3 1x2x4x3 1x2x4x3", {.scale = 0.5});
    add(" causal", "1x2x3x4 1x2x5x4 1x2x5x2 | 1x2x5x2 1x2x5x2 1x2x5x2", {.scale = 0.5, .causal = true});
    add(" causal, alibi", "1x2x3x4 1x2x5x4 1x2x5x2", {.causal = true, .alibi = {0.5, 0.25}});
    add(" window", "1x2x3x4 1x2x5x4 1x2x5x2 | 2x4x7x2 2x2x7x2 2x2x7x3", {.scale = 0.5, .causal = true, .window = 2});
    add(" masked", "1x2x3x4 1x2x5x4 1x2x5x2", {.mask = spots});
    add(" masked, shared heads", "2x4x3x2 2x1x5x2 2x1x5x3", {.scale = 0.5, .mask = keys});
    add(" masked, dropout", "2x1x4x9 2x1x5x9 2x1x5x17",
        {.scale = 0.5, .mask = keys, .dropout = 0.3, .dropout_key = {3, 4}});
    add(" dropout", "1x2x3x4 1x2x5x4 1x2x5x2", {.dropout = 0.3});
    add(" causal, dropout", "1x1x3x2 1x1x5x2 1x1x5x1 | 2x6x3x4 2x2x5x4 2x2x5x3",
        {.scale = 0.5, .causal = true, .dropout = 0.3, .dropout_key = {3, 4}});
    // q, k and v as pieces of one tensor, seen as heads
    all.add("attention of heads", {"2x5x18", Nan::products}, [](V x) {
        const auto p = split(x, 3, -1);
        const auto head = [](V t) { return transpose(reshape(t, {2, 5, 2, 3}), 1, 2); };
        return attention(head(p[0]), head(p[1]), head(p[2]),
                         {.scale = 0.6, .causal = true, .dropout = 0.2, .dropout_key = {1, 2}});
    });
    // a block is 32 queries and 512 keys
    add(" of blocks, causal", "1x1x3x2 1x1x5x2 1x1x5x1 | 1x1x35x2 1x1x517x2 1x1x517x1",
        {.scale = 1.3, .causal = true, .alibi = {0.01}});
    // the first queries see only the first block, then both, the last only the second; no query sees key 0
    add(" of blocks, window", "1x1x3x2 1x1x5x2 1x1x5x1 | 1x1x70x2 1x1x560x2 1x1x560x1",
        {.scale = 1.3, .causal = true, .dropout = 0.2, .dropout_key = {3, 4}, .window = 30});
    add(" of blocks, dropout", "1x1x3x3 1x1x3x3 1x1x3x2 | 1x1x67x3 1x1x67x3 1x1x67x2",
        {.scale = 0.8, .causal = true, .dropout = 0.3, .dropout_key = {3, 4}});
    MaskArray blocks({35, 517});  // queries that see the first block, the second, both, and no key
    for (std::size_t i = 0; i < 35; ++i) {
        const std::size_t begin = i % 4 == 0 ? 512 : 0, end = i % 4 == 1 ? 512 : i % 4 == 2 ? 0 : 517;
        for (std::size_t j = 0; j < 517; ++j) blocks.data()[i * 517 + j] = j >= begin && j < end && (i + j) % 3 != 0;
    }
    all.add(
        "attention of blocks, masked", {"1x1x3x1 1x1x5x1 1x1x5x2 | 1x1x35x1 1x1x517x1 1x1x517x2", Nan::products},
        [blocks](V q, V k, V v) {
            AttentionOptions options{.scale = 1.3, .dropout = 0.2, .dropout_key = {5, 6}, .masked = Masked::uniform};
            if (k.defined() && k.dim(2) == 517) options.mask = blocks;
            return attention(q, k, v, options);
        });
    IdArray begins({2, 6});
    std::ranges::copy(std::initializer_list<int>{0, 0, 2, 3, 3, 3, 0, 0, 0, 0, 4, 5}, begins.data());
    add(" of documents", "2x2x6x4 2x2x6x4 2x2x6x3 | 2x4x6x4 2x2x6x4 2x2x6x3",
        {.scale = 0.5, .causal = true, .documents = begins});
    add(" of documents, dropout", "2x2x6x4 2x2x6x4 2x2x6x3",
        {.scale = 0.5,
         .causal = true,
         .dropout = 0.3,
         .dropout_key = {3, 4},
         .alibi = {0.1, 0.4},
         .documents = begins});
    add(" of documents, window", "2x2x6x4 2x2x6x4 2x2x6x3",
        {.scale = 0.5, .causal = true, .documents = begins, .window = 2});
}

template <class T>
void add_token_shift(OpCases<T>& all) {
    using V = const Tensor<T>&;
    IdArray positions({2, 5});
    std::ranges::copy(std::initializer_list<int>{0, 1, 0, 0, 1, 0, 1, 2, 3, 4}, positions.data());
    all.add("token_shift", {"2x5x3 3 | 1x4 4 | 2x3x2x5 5 | 4x1 1 | 9x33 33", Nan::products},
            [](V x, V w) { return token_shift(x, w); });
    all.add("token_shift at positions", {"2x5x3 3", Nan::products},
            [=](V x, V w) { return token_shift(x, w, positions); });
}

template <class T>
void add_rotary(OpCases<T>& all) {
    using V = const Tensor<T>&;
    for (const bool interleaved : {false, true}) {
        for (const bool clockwise : {false, true}) {
            const RotaryPairs pairs = interleaved ? RotaryPairs::interleaved : RotaryPairs::halves;
            const std::string name =
                (interleaved ? " interleaved" : " halves") + std::string(clockwise ? ", clockwise" : "");
            const RotaryOptions options{100, pairs, clockwise, 2};
            RotaryOptions given = options;
            given.positions = some_ids({2, 3}, 5);
            const ConstArray<T> table = rotary_table<T>({1, 0.3}, 0, 5, clockwise);
            all.add("rotary" + name, {"3x36 | 4x4 | 2x2x4 | 2x3x2x8", Nan::products},
                    [=](V x) { return rotary(x, options); });
            all.add("rotary" + name + " at positions", {"2x3x4 | 2x2x3x4", Nan::products},
                    [=](V x) { return rotary(x, given); });
            all.add("rotate" + name + ", four of a head's numbers", {"2x3x2x7", Nan::products},
                    [=](V x) { return rotate(transpose(x, 1, 2), table, given.positions, pairs); });
        }
    }
}

template <class T>
void add_einsum(OpCases<T>& all) {
    for (const std::string row :
         {"bij,jkb->bki 3x4x2 2x5x3", "ij->ji 2x3", "...ij,...jk->...ik 2x3x4 4x2", "ijk->j 2x3x4", "ii 3x3",
          "iji->ij 3x2x3", "iji->j 3x2x3", "i,j 3 4", "i,i-> 4 4", "ij,jk 2x3 3x4", "ij,jk->ik 3x4 4x2",
          "ibk,kjb->bji 3x2x4 4x5x2", "bhqd,bhkd->bhqk 2x2x3x4 2x2x5x4", "ij,ij->i 3x4 3x4", "ba,ab 3x2 2x3",
          "ab,cb,dc->ad 2x3 4x3 2x4", "abc,bd,e->da 2x3x2 3x2 2", "abc,cdb,e->eda 2x3x4 4x5x3 2"}) {
        const std::string equation = row.substr(0, row.find(' '));
        all.add("einsum " + equation, {row.substr(equation.size()), Nan::products},
                [=](const typename OpCase<T>::In& in) { return einsum(equation, in); });
    }
}

template <class F>
auto in_bf16(F f) {
    return [f](const auto& x, const auto& y, const auto& z) {
        const WithPrecision scope(Precision::bf16);
        return f(x, y, z);
    };
}

}  // namespace

template <class T>
OpCases<T> product_cases() {
    using V = const Tensor<T>&;
    using In = typename OpCase<T>::In;
    const auto at = [](const char* shapes) { return CaseInputs(shapes, Nan::products); };
    const auto product = [](V a, V b) { return matmul(a, b); };
    const auto affine = [](V x, V w, V bias) { return linear(x, w, bias); };
    const auto behind = [](const In& in) {  // as in an adapter: in the layer's own memory, with the layer's x
        return add_low_rank(linear(in[0], in[1]), in[0], in[2], in[3], 0.5);
    };
    const auto causal = [](V x, V w) {
        const auto parts = split(linear(x, w), 3, -1);
        const auto heads = [](V t) { return transpose(reshape(t, {2, 5, 2, 3}), 1, 2); };
        const auto scores = scale(matmul(heads(parts[0]), transpose(heads(parts[1]), -2, -1)), 1 / std::sqrt(3.0));
        const auto weights = softmax(masked_fill(scores, causal_mask(5, 5), -std::numeric_limits<double>::infinity()));
        return reshape(transpose(matmul(weights, heads(parts[2])), 1, 2), {2, 5, 6});
    };
    OpCases<T> all;
    all.add("matmul",
            at("3x4 4x17 | 2x3 3x4 | 1x1 1x1 | 17x3 3x1 | 2x3x4 2x4x5 | 2x3x4 4x2 | 3x4 2x4x2 | "
               "2x1x3x2 3x2x2 | 1x2x3 4x3x2"),
            product);
    all.add("matmul of vectors", at("4 4"), product);
    all.add("matmul of a vector", at("3x4 4 | 2x3x4 4"), product);
    all.add("matmul of a vector first", at("4 4x3 | 4 2x4x3"), product);
    all.add("matmul transposed", at("2x3x4 2x5x4 | 3x4 2x4"), [](V a, V b) { return matmul(a, transpose(b, -2, -1)); });
    all.add("matmul transposed first", at("2x4x3 2x4x5"), [](V a, V b) { return matmul(transpose(a, -2, -1), b); });
    all.add("matmul of batches", at("2x3x4 2x4x5"), product);
    all.add("linear", at("3x4 17x4 17 | 4 3x4 3 | 2x3x4 5x4 5"), affine);
    all.add("linear without bias", at("3x4 17x4 | 2x2x2x3 1x3"), [](V x, V w) { return linear(x, w); });
    all.add("linear bf16", at("3x4 17x4 17"), in_bf16(affine));
    all.add("linear, split and softmax", at("2x5x6 18x6"), causal);
    all.add("add_low_rank", at("3x17 3x4 2x4 17x2 | 3 4 2x4 3x2 | 2x3x5 2x3x4 1x4 5x1 | 2x3 2x4 3x4 3x3"),
            [](const In& in) { return add_low_rank(in[0], in[1], in[2], in[3], 1.5); });
    all.add("add_low_rank behind linear", at("2x3x4 5x4 2x4 5x2"), behind);
    all.add("attention bf16", at("1x2x3x4 1x2x5x4 1x2x5x2"), in_bf16(attend<T>({})));
    struct Head {
        std::size_t n, vocabulary, block;
        double cap;
    };
    const Head heads[] = {{3, 40, 16, 0}, {3, 40, 16, 5}, {5, 7, 0, 0},   {5, 7, 3, 0},
                          {3, 8, 1, 0},   {1, 2, 8, 0},   {5, 7, 0, 1.5}, {5, 7, 3, 1.5}};
    for (const Head h : heads) {
        IdArray targets = some_ids({h.n}, h.vocabulary);
        if (h.n > 1) targets.data()[1] = kIgnore;
        all.add(fmt::format("linear_cross_entropy {} classes by {}, cap {}", h.vocabulary, h.block, h.cap),
                at(fmt::format("{}x4 {}x4", h.n, h.vocabulary).c_str()),
                [=](V x, V w) { return linear_cross_entropy(x, w, targets, kIgnore, h.block, h.cap); });
    }
    add_einsum(all);
    add_rotary(all);
    add_token_shift(all);
    add_attention(all);
    return all;
}

template OpCases<float> product_cases();
template OpCases<double> product_cases();

}  // namespace inkling
