// Ids and masks that the caller writes to after an op was recorded: the op's gradient is that of the values it saw.
#include "engine/ops.h"
#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

using D = Tensor<double>;

template <class A>
struct WrittenLater {
    const char* name;
    A operand;
    std::function<D(const A&, const D& w)> op;  // w (5, 4)
};

IdArray later_ids(const Shape& shape, const std::vector<double>& values) { return of<std::int32_t>(shape, values); }
MaskArray later_mask(const Shape& shape, const std::vector<double>& values) { return of<std::uint8_t>(shape, values); }

D numbers(const Shape& shape, std::uint64_t seed) { return D(random_array<double>(shape, seed)); }

// Runs an op forward, writes `instead` to all its ids, and runs backward.
template <class A>
Array<double> gradient(const WrittenLater<A>& row, std::optional<typename A::value_type> instead, bool twice) {
    const D w(random_array<double>({5, 4}, 3), true);
    A operand = row.operand.clone();
    D y = row.op(operand, w);
    if (twice) y = sum(mul(y, y));
    const auto write = [&] {
        if (instead) std::fill_n(operand.data(), operand.size(), *instead);
    };
    if (!twice) {
        write();
        y.backward(random_array<double>(y.shape(), 7));
    } else {
        const D g = gradients(y, {w}, {.create_graph = true})[0];
        write();
        sum(mul(g, g)).backward();
    }
    return w.grad();
}

template <class A>
void check_rows(const std::vector<WrittenLater<A>>& rows, const std::vector<typename A::value_type>& others) {
    for (const WrittenLater<A>& row : rows)
        for (const bool twice : {false, true})
            for (const auto other : others) {
                INFO(row.name << ", " << +other << (twice ? ", twice" : ""));
                CHECK(same_bits(gradient(row, other, twice), gradient(row, {}, twice)));
            }
}

}  // namespace

TEST_CASE("ids: those written to after an op was recorded do not change its gradient", "[engine]") {
    const auto rows = [](const D& w) { return reshape(w, {1, 5, 4}); };
    const IdArray classes = later_ids({5}, {1, 3, 2, 0, 2}), order = later_ids({1, 5}, {0, 1, 2, 0, 1});
    const IdArray along = later_ids({5, 4}, {1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0});
    check_rows<IdArray>(
        {
            {"embedding", later_ids({2, 3}, {1, 4, 1, 0, 2, 4}), [](auto& ids, auto& w) { return embedding(ids, w); }},
            {"index_select", classes, [](auto& ids, auto& w) { return index_select(w, 0, ids); }},
            {"gather", along, [](auto& ids, auto& w) { return gather(w, 0, ids); }},
            {"gather of a part", later_ids({2, 1}, {3, 1}), [](auto& ids, auto& w) { return gather(w, 1, ids); }},
            {"scatter_add", along,
             [](auto& ids, auto& w) {
                 return scatter_add(numbers({5, 4}, 9), 0, ids, w);
             }},
            {"scatter", along,
             [](auto& ids, auto& w) {
                 return scatter(w, 0, ids, numbers({5, 4}, 9), Scatter::prod);
             }},
            {"cross_entropy", classes, [](auto& ids, auto& w) { return cross_entropy(w, ids); }},
            {"cross_entropy, smoothed", classes,
             [](auto& ids, auto& w) { return cross_entropy(w, ids, CrossEntropyOptions{.label_smoothing = 0.2}); }},
            {"nll_loss", classes, [](auto& ids, auto& w) { return nll_loss(log_softmax(w), ids); }},
            {"linear_cross_entropy", classes,
             [](auto& ids, auto& w) {
                 return linear_cross_entropy(w, numbers({7, 4}, 9), ids);
             }},
            {"linear_cross_entropy in blocks", classes,
             [](auto& ids, auto& w) {
                 return linear_cross_entropy(w, numbers({7, 4}, 9), ids, kIgnore, 3);
             }},
            {"token_shift", order, [&](auto& ids, auto& w) { return token_shift(rows(w), numbers({4}, 9), ids); }},
            {"rotary", order, [&](auto& ids, auto& w) { return rotary(rows(w), {.positions = ids}); }},
            {"attention, documents", later_ids({1, 5}, {0, 0, 2, 2, 2}),
             [&](auto& ids, auto& w) {
                 const D x = reshape(w, {1, 1, 5, 4});
                 return attention(x, x, x, {.causal = true, .documents = ids});
             }},
        },
        {0, 1000000000});
}

TEST_CASE("ids: those that sort gave do not change its gradient when they are written to", "[engine]") {
    const D w(random_array<double>({5, 4}, 3), true);
    const auto gradient = [&](bool write) {
        auto [values, ids] = sort(w, 0);
        if (write) std::fill_n(ids.data(), ids.size(), 1000000000);
        return gradients(values, {w}, {.dy = numbers({5, 4}, 7)})[0].value();
    };
    CHECK(same_bits(gradient(true), gradient(false)));
}

TEST_CASE("masks: those written to after an op was recorded do not change its gradient", "[engine]") {
    const MaskArray some = later_mask({5, 4}, {1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1});
    const MaskArray pairs =
        later_mask({1, 1, 5, 5}, {1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1});
    check_rows<MaskArray>(
        {
            {"where", some, [](auto& mask, auto& w) { return where(mask, w, mul(w, w)); }},
            {"where, of a row", later_mask({4}, {1, 0, 0, 1}), [](auto& mask, auto& w) { return where(mask, w, 0.5); }},
            {"masked_fill", some, [](auto& mask, auto& w) { return masked_fill(w, mask, 2); }},
            {"softmax", some, [](auto& mask, auto& w) { return softmax(w, mask, Masked::zero); }},
            {"attention", pairs,
             [](auto& mask, auto& w) {
                 const D x = reshape(w, {1, 1, 5, 4});
                 return attention(x, x, x, {.mask = mask});
             }},
        },
        {0, 1});
}
