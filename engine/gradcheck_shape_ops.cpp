// The rows of `inkling gradcheck` for ops that change shapes, choose elements or multiply matrices.
#include "engine/gradcheck_ops.h"
#include "engine/ops.h"

namespace inkling {
namespace {

using V = const Tensor<double>&;

const std::vector<Shape> kShapes = {{}, {1}, {5}, {17}, {3, 4}, {2, 1, 3}, {2, 3, 2, 3}, {1, 1}};

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
             return worst_of({unary_error([](V x) { return reshape(x, {x.size()}); }, kShapes),
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
                              unary_error([](V x) { return reshape(x, -1); }, kShapes)});
         }},
        {"flatten",
         [] {
             return worst_of({unary_error([](V x) { return flatten(x); }, kShapes),
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
                                      return inkling::where(pattern({2, 3}), in[0], in[1]);
                                  },
                                  {{2, 3}, {2, 3}}),
                              error_of(
                                  [](const Inputs& in) {
                                      return inkling::where(pattern({4, 1}), in[0], in[1]);
                                  },
                                  {{3}, {2, 1, 1}})});
         }},
        {"masked_fill",
         [] {
             return worst_of(
                 {unary_error([](V x) { return masked_fill(x, pattern(x.shape()), -2.0); }, kShapes),
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

std::vector<GradcheckRow> product_rows() {
    const auto plain = [](const Inputs& in) { return matmul(in[0], in[1]); };
    return {
        {"matmul",
         [plain] {
             return worst_of({error_of(plain, {{2, 3}, {3, 4}}), error_of(plain, {{1, 1}, {1, 1}}),
                              error_of(plain, {{17, 3}, {3, 1}})});
         }},
        {"matmul (batched, broadcast)",
         [plain] {
             return worst_of({error_of(plain, {{2, 3, 4}, {2, 4, 2}}), error_of(plain, {{2, 3, 4}, {4, 2}}),
                              error_of(plain, {{3, 4}, {2, 4, 2}}), error_of(plain, {{2, 1, 3, 2}, {3, 2, 2}}),
                              error_of(plain, {{1, 2, 3}, {4, 3, 2}})});
         }},
        {"matmul (transposed)",
         [] {
             const auto right = [](const Inputs& in) { return matmul(in[0], transpose(in[1], -2, -1)); };
             const auto left = [](const Inputs& in) { return matmul(transpose(in[0], -2, -1), in[1]); };
             return worst_of({error_of(right, {{2, 3, 4}, {2, 5, 4}}), error_of(left, {{2, 4, 3}, {2, 4, 5}}),
                              error_of(right, {{3, 4}, {2, 4}})});
         }},
        {"einsum",
         [] {
             double worst = 0;
             const auto check_one = [&](const char* equation, const std::vector<Shape>& shapes) {
                 worst = std::max(worst, error_of([=](const Inputs& in) { return einsum(equation, in); }, shapes));
             };
             check_one("ij->ji", {{2, 3}});
             check_one("ijk->j", {{2, 3, 4}});
             check_one("ii", {{3, 3}});
             check_one("iji->ij", {{3, 2, 3}});
             check_one("i,j", {{3}, {4}});
             check_one("i,i->", {{4}, {4}});
             check_one("ij,jk", {{2, 3}, {3, 4}});
             check_one("ibk,kjb->bji", {{3, 2, 4}, {4, 5, 2}});
             check_one("bhqd,bhkd->bhqk", {{2, 2, 3, 4}, {2, 2, 5, 4}});
             check_one("ij,ij->i", {{3, 4}, {3, 4}});
             check_one("ab,cb,dc->ad", {{2, 3}, {4, 3}, {2, 4}});
             check_one("abc,bd,e->da", {{2, 3, 2}, {3, 2}, {2}});
             return worst;
         }},
        {"linear",
         [] {
             const auto with_bias = [](const Inputs& in) { return linear(in[0], in[1], in[2]); };
             const auto without = [](const Inputs& in) { return linear(in[0], in[1]); };
             const auto strided = [](const Inputs& in) { return linear(transpose(in[0], 0, 1), in[1], in[2]); };
             return worst_of({error_of(with_bias, {{4}, {3, 4}, {3}}), error_of(with_bias, {{2, 3, 4}, {5, 4}, {5}}),
                              error_of(without, {{2, 2, 2, 3}, {1, 3}}), error_of(strided, {{4, 2}, {3, 4}, {3}})});
         }},
        {"embedding",
         [] {
             return worst_of(
                 {error_of([](const Inputs& in) { return embedding(some_ids({5}, 4), in[0]); }, {{4, 3}}),
                  error_of(
                      [](const Inputs& in) {
                          return mul(embedding(some_ids({2, 3}, 6), in[0]), embedding(some_ids({2, 3}, 5), in[0]));
                      },
                      {{6, 2}})});
         }},
        {"repeat",
         [] {
             double worst = 0;
             for (const std::size_t times : {1, 3}) {
                 for (const std::ptrdiff_t axis : {0, 1, -1}) {
                     const auto f = [=](const Tensor<double>& x) { return repeat(x, times, axis); };
                     worst = std::max(worst, unary_error(f, {{3, 4}, {2, 2, 3, 5}}));
                 }
             }
             return worst;
         }},
        {"rotary",
         [] {
             double worst = 0;
             for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
                 for (const bool clockwise : {false, true}) {
                     const RotaryOptions options{100, pairs, clockwise, 2};
                     const auto f = [=](const Tensor<double>& x) { return rotary(x, options); };
                     worst = std::max(worst, unary_error(f, {{4, 4}, {2, 2, 4}, {2, 3, 2, 8}}));
                 }
             }
             return worst;
         }},
        {"attention (fused)",
         [] {
             const auto self = [](FusedAttention options) {
                 return [options](const Inputs& in) { return attention(in[0], in[1], in[2], options); };
             };
             const auto packed = [](const Inputs& in) {  // q, k, v as pieces of one tensor, seen as heads
                 const auto p = split(in[0], 3, -1);
                 const auto head = [](const Tensor<double>& t) { return transpose(reshape(t, {2, 5, 2, 3}), 1, 2); };
                 return attention(head(p[0]), head(p[1]), head(p[2]), {0.6, true, {}, 0.2, {1, 2}, {}});
             };
             const auto same = [](const Inputs& in) {
                 return attention(in[0], in[0], in[0], {1.0, true, {}, 0, {}, {}});
             };
             const auto columns = [](const Inputs& in) {  // rows whose elements lie apart
                 const auto turned = [](V x) { return transpose(x, 2, 3); };
                 return attention(turned(in[0]), turned(in[1]), turned(in[2]), {0.5, true, {}, 0, {}, {}});
             };
             MaskArray mask({2, 1, 1, 5}, 1);
             mask.data()[3] = mask.data()[9] = 0;
             return worst_of(
                 {error_of(self({0.5, false, {}, 0, {}, {}}), {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}}),
                  error_of(self({0.5, true, {}, 0, {}, {}}), {{1, 2, 5, 2}, {1, 2, 5, 2}, {1, 2, 5, 2}}),
                  error_of(self({0.5, true, {}, 0.3, {3, 4}, {}}), {{1, 1, 3, 2}, {1, 1, 5, 2}, {1, 1, 5, 1}}),
                  error_of(self({0.5, false, mask, 0.3, {3, 4}, {}}), {{2, 1, 4, 9}, {2, 1, 5, 9}, {2, 1, 5, 17}}),
                  error_of(packed, {{2, 5, 18}}), error_of(same, {{1, 2, 4, 3}}),
                  error_of(columns, {{1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 2, 5}})});
         }},
        {"attention (fused, several blocks)",
         [] {  // a block is 32 queries and 512 keys
             const auto error = [](const FusedAttention& options, std::size_t Lq, std::size_t Lk, std::size_t d,
                                   std::size_t dv) {
                 const auto f = [&](const Inputs& in) { return attention(in[0], in[1], in[2], options); };
                 return error_of(f, {{1, 1, Lq, d}, {1, 1, Lk, d}, {1, 1, Lk, dv}});
             };
             MaskArray mask({35, 517});  // queries that see the first block, the second, both, and no key
             for (std::size_t i = 0; i < 35; ++i) {
                 const std::size_t begin = i % 4 == 0 ? 512 : 0, end = i % 4 == 1 ? 512 : i % 4 == 2 ? 0 : 517;
                 for (std::size_t j = 0; j < 517; ++j)
                     mask.data()[i * 517 + j] = j >= begin && j < end && (i + j) % 3 != 0;
             }
             return worst_of({error({1.3, true, {}, 0, {}, {0.01}}, 35, 517, 2, 1),
                              error({0.8, true, {}, 0.3, {3, 4}, {}}, 67, 67, 3, 2),
                              error({1.3, false, mask, 0.2, {5, 6}, {}, Masked::uniform}, 35, 517, 1, 2)});
         }},
        {"dropout",
         [] {
             double worst = 0;
             for (const double p : {0.0, 0.2, 0.9}) {
                 worst = std::max(worst, unary_error(
                                             [p](const Tensor<double>& x) {
                                                 return dropout(x, p, {5, 6});
                                             },
                                             kShapes));
             }
             return worst;
         }},
    };
}

}  // namespace inkling
