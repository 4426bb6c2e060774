// Ops that change shapes or select elements by position.
#include "engine/gradcheck/op_cases.h"
#include "engine/ops.h"

namespace inkling {
namespace {

template <class T>
void add_selections(OpCases<T>& all) {
    using V = const Tensor<T>&;
    struct Along {
        std::ptrdiff_t axis;
        Shape ids;
        const char *x, *source;  // their shapes
        std::size_t below;       // x's size along the axis
    };
    for (const Along& a :
         {Along{1, {4, 3}, "4x6", "4x3", 6}, Along{0, {7}, "4", "7", 4}, Along{-1, {3, 2}, "3x5", "3x2", 5},
          Along{0, {6, 3}, "2x3", "6x3", 2}, Along{1, {2, 5, 3}, "2x4x3", "2x5x3", 4},
          Along{1, {2, 3}, "2x4", "2x3", 4}, Along{0, {4, 2}, "3x2", "4x2", 3}}) {
        const std::string name = fmt::format(" {} of {}", a.axis, a.x);
        const IdArray ids = some_ids(a.ids, a.below);
        const auto axis = a.axis;
        all.add("gather" + name, a.x, [=](V x) { return gather(x, axis, ids); });
        all.add("scatter_add" + name, std::string(a.x) + " " + a.source,
                [=](V x, V source) { return scatter_add(x, axis, ids, source); });
    }
    const IdArray ids = some_ids({5}, 3);
    all.add("index_select 0", "4x6 | 3 | 3x3 | 3x2x3", [=](V x) { return index_select(x, 0, ids); });
    all.add("index_select 1", "2x3x2", [=](V x) { return index_select(x, 1, ids); });
    all.add("index_select -1", "4x6 | 3x3", [=](V x) { return index_select(x, -1, ids); });
    const IdArray rows = some_ids({2, 3}, 5), row = some_ids({5}, 4);
    all.add("embedding", "5x7 | 5x4 | 6x2", [=](V w) { return embedding(rows, w); });
    all.add("embedding of a vector", "4x3", [=](V w) { return embedding(row, w); });
    all.add("embedding twice", "6x2", [=](V w) {
        const Tensor<T> first = embedding(rows, w);  // compilers choose the order of operands
        return first * embedding(some_ids({2, 3}, 6), w);
    });
    const std::string sorted = "4x6 | 5 | 3x4 | 2x3x4";
    all.add("sort", sorted + " | ()", [](V x) { return sort(x).values; });
    all.add("sort 0", sorted, [](V x) { return sort(x, 0).values; });
    all.add("sort descending", sorted, [](V x) { return sort(x, -1, true).values; });
    all.add("sort 0 descending", sorted, [](V x) { return sort(x, 0, true).values; });
    all.add("topk 2", sorted, [](V x) { return topk(x, 2).values; });
    all.add("topk 3 0", "4x6 | 5 | 3x4", [](V x) { return topk(x, 3, 0).values; });
}

}  // namespace

template <class T>
OpCases<T> shape_cases() {
    using V = const Tensor<T>&;
    const std::string any = "4x6 | () | 1 | 5 | 17 | 2x1x3 | 2x3x2x3 | 1x1";
    const auto square = [](V x) { return mul(x, x); };  // its gradients differ from element to element
    const auto parts = [](V x) {                        // one part is used twice, one not at all
        const auto p = split(x, 3, -1);
        return add(mul(p[0], p[2]), p[0]);
    };
    const auto sizes = [](V x) {
        const auto p = split(x, {2, 1, 0, 3}, -1);
        return add(mul(p[0], slice(p[3], -1, 1, 3)), p[1]);
    };
    const auto heads = [](V x) {  // as in attention: pieces, viewed as heads, in products
        const auto p = split(x, 3, -1);
        const auto head = [](V t) { return transpose(reshape(t, {t.dim(0), t.dim(1), 2, 2}), 1, 2); };
        return matmul(matmul(head(p[0]), transpose(head(p[1]), -2, -1)), head(p[2]));
    };
    OpCases<T> all;
    all.add("reshape", "2x3x4 | 24 | 4x6 | 3x8", [](V x) { return reshape(x, Shape{4, 6}); });
    all.add("reshape flat", any, [](V x) { return reshape(x, Shape{x.size()}); });
    all.add("reshape transposed", "2x3x4 | 4x6", [](V x) { return reshape(transpose(x, 0, -1), Shape{6, 4}); });
    all.add("reshape open", "3x4 | 6", [](V x) { return reshape(x, OpenShape{2, -1}); });
    all.add("reshape -1", any, [](V x) { return reshape(x, -1); });
    all.add("flatten", any, [](V x) { return flatten(x); });
    all.add("flatten 1 2", "2x3x2 | 2x3x2x3", [](V x) { return flatten(x, 1, 2); });
    all.add("squeeze", "4x1x6 | () | 1 | 3 | 2x1x3x1", [](V x) { return squeeze(x); });
    all.add("squeeze 1", "2x1x3", [](V x) { return squeeze(x, {1}); });
    all.add("unsqueeze 1", "4x6 | 5 | 2x3x4", [](V x) { return unsqueeze(x, 1); });
    all.add("unsqueeze -1", "4x6 | () | 5", [](V x) { return unsqueeze(x, -1); });
    all.add("unsqueeze -2", "3x2", [](V x) { return unsqueeze(x, -2); });
    all.add("expand", "4x1 | 3x1", [=](V x) { return expand(x, {2, -1, 4}); });
    all.add("expand squared", "2x1", [=](V x) { return square(expand(x, {3, -1, 4})); });
    all.add("expand a number", "()", [=](V x) { return square(expand(x, {2, 5})); });
    all.add("expand a new axis", "2x4", [](V x) { return expand(unsqueeze(x, 1), {-1, 3, -1}); });
    all.add("permute 1 0", "4x6", [](V x) { return permute(x, {1, 0}); });
    all.add("permute 2 0 1", "2x3x4 | 1x2x1", [](V x) { return permute(x, {2, 0, 1}); });
    all.add("permute 3 1 0 2", "2x3x2x3", [](V x) { return permute(x, {3, 1, 0, 2}); });
    all.add("transpose", "4x6", [](V x) { return transpose(x, 0, 1); });
    all.add("transpose squared", "2x3 | 2x1x3", [](V x) { return mul(transpose(x, 0, -1), transpose(x, 0, -1)); });
    all.add("slice", "4x6 | 3x7", [](V x) { return slice(x, 1, 1, 6, 2); });
    all.add("slice 0", "5 | 4x5 | 5x1x4", [](V x) { return slice(x, 0, 1, 4); });
    all.add("slice -1", "5x5 | 5 | 5x10", [](V x) { return slice(x, -1, 0, 5, 2); });
    all.add("slice overlapping", "3 | 3x4", [](V x) { return mul(slice(x, 0, 0, 2), slice(x, 0, 1, 3)); });
    all.add("split", "4x6 | 3x6", [](V x) { return split(x, 3, 1)[0] * split(x, 3, 1)[2]; });
    all.add("split one part", "4x6", [](V x) { return split(x, 2, 1)[1]; });
    all.add("split in parts", "3x6 | 3 | 3x2x6", parts);
    all.add("split in heads", "2x2x12", heads);
    all.add("split sizes", "4x6 | 3x6", [](V x) { return split(x, {1, 3, 2}, 1)[1] * split(x, {3, 0, 3}, 1)[2]; });
    all.add("split sizes, one part", "4x6", [](V x) { return split(x, {1, 3, 2}, 1)[1]; });
    all.add("split sizes in parts", "6 | 2x3x6 | 3x6", sizes);
    all.add("concatenate", "2x3 2x1 | 2x1x2x2 2x3x2x2", [](V a, V b) { return concatenate<T>({a, b, a}, 1); });
    all.add("concatenate two", "2x3 2x4", [](V a, V b) { return concatenate<T>({a, b}, 1); });
    all.add("concatenate 0", "2 3", [](V a, V b) { return concatenate<T>({a, b}, 0); });
    for (const std::ptrdiff_t axis : {0, 1, -1}) {
        all.add(fmt::format("stack {}", axis), "2x3 2x3", [axis](V a, V b) { return stack<T>({a, b}, axis); });
        for (const std::size_t times : {1, 3})
            all.add(fmt::format("repeat {} {}", times, axis), "4x6 | 3x4 | 2x2x3x5",
                    [=](V x) { return repeat(x, times, axis); });
    }
    add_selections(all);
    return all;
}

template OpCases<float> shape_cases();
template OpCases<double> shape_cases();

}  // namespace inkling
