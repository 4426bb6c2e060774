// The rows of `inkling gradcheck` for products of matrices and what a transformer is made of.
#include "engine/gradcheck/ops.h"
#include "engine/ops.h"

namespace inkling {

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
        {"add_low_rank",
         [] {
             const auto added = [](const Inputs& in) { return add_low_rank(in[0], in[1], in[2], in[3], 1.5); };
             const auto behind = [](const Inputs& in) {  // as an adapter is: in the layer's own memory, x of both
                 return add_low_rank(linear(in[0], in[1]), in[0], in[2], in[3], 0.5);
             };
             const auto strided = [](const Inputs& in) {
                 return add_low_rank(in[0], transpose(in[1], 0, 1), in[2], in[3], 2);
             };
             return worst_of({error_of(added, {{3}, {4}, {2, 4}, {3, 2}}),
                              error_of(added, {{2, 3, 5}, {2, 3, 4}, {1, 4}, {5, 1}}),
                              error_of(behind, {{2, 3, 4}, {5, 4}, {2, 4}, {5, 2}}),
                              error_of(strided, {{2, 3}, {4, 2}, {3, 4}, {3, 3}})});
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
                     RotaryOptions given = options;
                     given.positions = some_ids({2, 3}, 5);
                     const auto placed = [=](const Inputs& in) { return rotary(in[0], given); };
                     worst = std::max({worst, error_of(placed, {{2, 3, 4}}), error_of(placed, {{2, 2, 3, 4}})});
                     const ConstArray<double> table = rotary_table<double>({1, 0.3}, 0, 5, clockwise);
                     const auto first = [&](const Inputs& in) {  // four of a head's seven numbers, heads side by side
                         return rotate(transpose(in[0], 1, 2), table, given.positions, pairs);
                     };
                     worst = std::max(worst, error_of(first, {{2, 3, 2, 7}}));
                 }
             }
             return worst;
         }},
        {"attention (fused)",
         [] {
             const auto self = [](AttentionOptions options) {
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
                 const auto turned = [](const Tensor<double>& x) { return transpose(x, 2, 3); };
                 return attention(turned(in[0]), turned(in[1]), turned(in[2]), {0.5, true, {}, 0, {}, {}});
             };
             MaskArray mask({2, 1, 1, 5}, 1);
             mask.data()[3] = mask.data()[9] = 0;
             return worst_of(
                 {error_of(self({0.5, false, {}, 0, {}, {}}), {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}}),
                  error_of(self({0.5, true, {}, 0, {}, {}}), {{1, 2, 5, 2}, {1, 2, 5, 2}, {1, 2, 5, 2}}),
                  error_of(self({0.5, true, {}, 0.3, {3, 4}, {}}), {{1, 1, 3, 2}, {1, 1, 5, 2}, {1, 1, 5, 1}}),
                  error_of(self({0.5, false, mask, 0.3, {3, 4}, {}}), {{2, 1, 4, 9}, {2, 1, 5, 9}, {2, 1, 5, 17}}),
                  error_of(self({0.5, true, {}, 0.3, {3, 4}, {}}), {{2, 6, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}}),
                  error_of(self({0.5, false, mask, 0, {}, {}}), {{2, 4, 3, 2}, {2, 1, 5, 2}, {2, 1, 5, 3}}),
                  error_of(packed, {{2, 5, 18}}), error_of(same, {{1, 2, 4, 3}}),
                  error_of(columns, {{1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 2, 5}})});
         }},
        {"attention (fused, several blocks)",
         [] {  // a block is 32 queries and 512 keys
             const auto error = [](const AttentionOptions& options, std::size_t Lq, std::size_t Lk, std::size_t d,
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
        {"attention (fused, several documents a row)",
         [] {
             const std::vector<std::int32_t> begins = {0, 0, 2, 3, 3, 3, 0, 0, 0, 0, 4, 5};
             const auto f = [&](AttentionOptions options) {
                 IdArray given({2, 6});
                 std::copy(begins.begin(), begins.end(), given.data());
                 options.documents = given;
                 return [options](const Inputs& in) { return attention(in[0], in[1], in[2], options); };
             };
             const std::vector<Shape> shapes = {{2, 2, 6, 4}, {2, 2, 6, 4}, {2, 2, 6, 3}};
             return worst_of({error_of(f({0.5, true, {}, 0, {}, {}}), shapes),
                              error_of(f({0.5, true, {}, 0, {}, {}}), {{2, 4, 6, 4}, {2, 2, 6, 4}, {2, 2, 6, 3}}),
                              error_of(f({0.5, true, {}, 0.3, {3, 4}, {0.1, 0.4}}), shapes)});
         }},
        {"dropout",
         [] {
             double worst = 0;
             for (const double p : {0.0, 0.2, 0.9}) {
                 worst = std::max(worst, unary_error(
                                             [p](const Tensor<double>& x) {
                                                 return dropout(x, p, {5, 6});
                                             },
                                             kManyShapes));
             }
             return worst;
         }},
    };
}

}  // namespace inkling
