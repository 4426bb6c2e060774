// The rows of `inkling gradcheck` for ops that change shapes or choose elements.
#include "engine/gradcheck/ops.h"
#include "engine/ops.h"

namespace inkling {
namespace {

using V = const Tensor<double>&;

MaskArray pattern(const Shape& shape) {
    MaskArray mask(shape);
    for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = i % 3 == 1;
    return mask;
}

}  // namespace

std::vector<GradcheckRow> shape_rows() {
    return {
        {"reshape",
         [] {
             return worst_of({unary_error([](V x) { return reshape(x, {x.size()}); }, kManyShapes),
                              error_of(
                                  [](const Inputs& in) {
                                      return reshape(transpose(in[0], 0, 1), {2, 6});
                                  },
                                  {{3, 4}})});
         }},
        {"reshape (open)",
         [] {
             return worst_of({unary_error(
                                  [](V x) {
                                      return reshape(x, {2, -1});
                                  },
                                  {{6}, {3, 4}}),
                              unary_error([](V x) { return reshape(x, -1); }, kManyShapes)});
         }},
        {"flatten",
         [] {
             return worst_of({unary_error([](V x) { return flatten(x); }, kManyShapes),
                              unary_error([](V x) { return flatten(x, 1, 2); }, {{2, 3, 2}, {2, 3, 2, 3}})});
         }},
        {"squeeze",
         [] {
             return worst_of({unary_error([](V x) { return squeeze(x); }, {{}, {1}, {3}, {2, 1, 3, 1}}),
                              unary_error([](V x) { return squeeze(x, {1}); }, {{2, 1, 3}})});
         }},
        {"unsqueeze",
         [] {
             return worst_of({unary_error([](V x) { return unsqueeze(x, -1); }, {{}, {5}, {3, 4}}),
                              unary_error([](V x) { return unsqueeze(x, 1); }, {{5}, {2, 3, 4}})});
         }},
        {"expand",
         [] {
             const auto square = [](V x) { return mul(x, x); };  // of the view
             return worst_of({error_of(
                                  [&](const Inputs& in) {
                                      return square(expand(in[0], {3, -1, 4}));
                                  },
                                  {{2, 1}}),
                              error_of(
                                  [&](const Inputs& in) {
                                      return square(expand(in[0], {2, 5}));
                                  },
                                  {{}}),
                              unary_error(
                                  [](V x) {
                                      return expand(unsqueeze(x, 1), {-1, 3, -1});
                                  },
                                  {{2, 4}})});
         }},
        {"permute",
         [] {
             return worst_of({unary_error(
                                  [](V x) {
                                      return permute(x, {2, 0, 1});
                                  },
                                  {{2, 3, 4}, {1, 2, 1}}),
                              unary_error(
                                  [](V x) {
                                      return permute(x, {3, 1, 0, 2});
                                  },
                                  {{2, 3, 2, 3}})});
         }},
        {"transpose",
         [] {
             return unary_error([](V x) { return mul(transpose(x, 0, -1), transpose(x, 0, -1)); }, {{2, 3}, {2, 1, 3}});
         }},
        {"slice",
         [] {
             return worst_of(
                 {unary_error([](V x) { return slice(x, 0, 1, 4); }, {{5}, {4, 5}, {5, 1, 4}}),
                  unary_error([](V x) { return slice(x, -1, 0, 5, 2); }, {{5}, {5, 10}}),
                  unary_error([](V x) { return mul(slice(x, 0, 0, 2), slice(x, 0, 1, 3)); }, {{3}, {3, 4}})});
         }},
        {"split",
         [] {
             const auto parts = [](V x) {
                 const auto p = split(x, 3, -1);
                 return add(mul(p[0], p[2]), p[0]);  // one part is used twice, one not at all
             };
             const auto heads = [](V x) {  // as attention uses it: pieces, seen as heads, in products
                 const auto p = split(x, 3, -1);
                 const auto head = [](V t) { return transpose(reshape(t, {2, 2, 2, 2}), 1, 2); };
                 return matmul(matmul(head(p[0]), transpose(head(p[1]), -2, -1)), head(p[2]));
             };
             return worst_of({unary_error(parts, {{3, 6}, {3}, {3, 2, 6}}),
                              error_of([&](const Inputs& in) { return heads(in[0]); }, {{2, 2, 12}})});
         }},
        {"split (sizes)",
         [] {
             const auto parts = [](V x) {
                 const auto p = split(x, {2, 1, 0, 3}, -1);
                 return add(mul(p[0], slice(p[3], -1, 1, 3)), p[1]);
             };
             return worst_of({error_of([&](const Inputs& in) { return parts(in[0]); }, {{6}}),
                              error_of([&](const Inputs& in) { return parts(in[0]); }, {{2, 3, 6}}),
                              error_of([&](const Inputs& in) { return parts(transpose(in[0], 0, 1)); }, {{6, 3}})});
         }},
        {"gather",
         [] {
             const auto f = [](std::ptrdiff_t axis, const Shape& ids, std::size_t below) {
                 return [=](const Inputs& in) { return gather(in[0], axis, some_ids(ids, below)); };
             };
             return worst_of({error_of(f(0, {7}, 4), {{4}}), error_of(f(-1, {3, 2}, 5), {{3, 5}}),
                              error_of(f(0, {6, 3}, 2), {{2, 3}}), error_of(f(1, {2, 5, 3}, 4), {{2, 4, 3}})});
         }},
        {"index_select",
         [] {
             const auto f = [](std::ptrdiff_t axis) {
                 return [=](V x) { return index_select(x, axis, some_ids({5}, 3)); };
             };
             return worst_of({unary_error(f(0), {{3}, {3, 3}, {3, 2, 3}}), unary_error(f(1), {{2, 3, 2}}),
                              unary_error(f(-1), {{4, 6}, {3, 6}})});
         }},
        {"scatter_add",
         [] {
             const auto f = [](std::ptrdiff_t axis, const Shape& ids, std::size_t below) {
                 return [=](const Inputs& in) { return scatter_add(in[0], axis, some_ids(ids, below), in[1]); };
             };
             return worst_of({error_of(f(0, {7}, 4), {{4}, {7}}), error_of(f(-1, {3, 2}, 5), {{3, 5}, {3, 2}}),
                              error_of(f(0, {6, 3}, 2), {{2, 3}, {6, 3}}),
                              error_of(f(1, {2, 5, 3}, 4), {{2, 4, 3}, {2, 5, 3}})});
         }},
        {"sort",
         [] {
             return worst_of({unary_error([](V x) { return sort(x).values; }, {{5}, {3, 4}, {2, 3, 4}}),
                              unary_error([](V x) { return sort(x, 0, true).values; }, {{5}, {3, 4}, {2, 3, 4}})});
         }},
        {"topk",
         [] {
             return worst_of({unary_error([](V x) { return topk(x, 2).values; }, {{5}, {3, 4}, {2, 3, 4}}),
                              unary_error([](V x) { return topk(x, 3, 0).values; }, {{5}, {3, 4}})});
         }},
        {"concatenate",
         [] {
             const auto join = [](const Inputs& in) { return concatenate<double>({in[0], in[1], in[0]}, 1); };
             const auto front = [](const Inputs& in) { return concatenate<double>({in[0], in[1]}, 0); };
             return worst_of({error_of(join, {{2, 3}, {2, 1}}), error_of(front, {{2}, {3}}),
                              error_of(join, {{2, 1, 2, 2}, {2, 3, 2, 2}})});
         }},
        {"stack",
         [] {
             double worst = 0;
             for (const std::ptrdiff_t axis : {0, 1, -1}) {
                 worst = std::max(worst, error_of(
                                             [=](const Inputs& in) {
                                                 return stack<double>({in[0], in[1]}, axis);
                                             },
                                             {{2, 3}, {2, 3}}));
             }
             return worst;
         }},
        {"where",
         [] {
             return worst_of({error_of(
                                  [](const Inputs& in) {
                                      return where(pattern({2, 3}), in[0], in[1]);
                                  },
                                  {{2, 3}, {2, 3}}),
                              error_of(
                                  [](const Inputs& in) {
                                      return where(pattern({4, 1}), in[0], in[1]);
                                  },
                                  {{3}, {2, 1, 1}})});
         }},
        {"masked_fill",
         [] {
             return worst_of(
                 {unary_error([](V x) { return masked_fill(x, pattern(x.shape()), -2.0); }, kManyShapes),
                  error_of([](const Inputs& in) { return softmax(masked_fill(in[0], causal_mask(4, 4), -1e30)); },
                           {{2, 4, 4}})});
         }},
        {"tril",
         [] {
             return worst_of({unary_error([](V x) { return tril(x); }, {{3, 4}, {2, 3, 3}}),
                              unary_error([](V x) { return tril(x, 1); }, {{3, 4}})});
         }},
        {"triu",
         [] {
             return worst_of({unary_error([](V x) { return triu(x); }, {{3, 4}, {2, 3, 3}}),
                              unary_error([](V x) { return triu(x, -1); }, {{3, 4}})});
         }},
    };
}

}  // namespace inkling
