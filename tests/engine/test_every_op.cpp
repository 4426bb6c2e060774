// What holds for every op: NaN in gives NaN out, value and gradient, at every position; undefined tensors are refused.
#include <set>

#include "tests/engine/ops_table.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T>
bool differs(T a, T b) {
    return std::isnan(a) != std::isnan(b) || (!std::isnan(a) && a != b);
}

template <class T>
constexpr T kNanOf = std::numeric_limits<T>::quiet_NaN();

// Where `broken` must be NaN: at the elements that change when the number in its place does. Elsewhere it must be as it
// was, if `alone`.
template <class T>
void check_spread(const Array<T>& at_rest, const std::vector<Array<T>>& moved, const Array<T>& broken, bool alone) {
    for (std::size_t j = 0; j < at_rest.size(); ++j) {
        const T before = at_rest.data()[j], after = broken.data()[j];
        bool depends = false;
        for (const Array<T>& m : moved) depends = depends || differs(before, m.data()[j]);
        INFO("element " << j << " of shape " << to_string(at_rest.shape()) << ": " << before << " became " << after);
        if (depends) {
            REQUIRE(std::isnan(after));
        } else if (alone) {
            REQUIRE_FALSE(differs(before, after));
        }
    }
}

// Value and gradients, dense.
template <class T>
std::vector<Array<T>> results(const OpCase<T>& op, const std::vector<Array<T>>& at, const Array<T>& dy) {
    const Computed<T> r = run<T>(op.f, at, dy);
    std::vector<Array<T>> all{r.value.clone()};
    for (const auto& g : r.grads) all.push_back(g.clone());
    return all;
}

template <class T>
std::vector<Array<T>> inputs_of(const OpCase<T>& op) {
    std::vector<Array<T>> at;
    for (const Shape& shape : op.shapes) {
        const Array<double> x = normal(shape, 11 + at.size());
        at.push_back(cast<T>(op.is_positive ? positive(x) : away_from_zero(x)));
    }
    return at;
}

template <class T>
Array<T> cotangent(const OpCase<T>& op, const std::vector<Array<T>>& at) {
    std::vector<Tensor<T>> in;
    for (const auto& a : at) in.emplace_back(a);
    return random_array<T>(op.f(in).shape(), 5);
}

}  // namespace

TEMPLATE_TEST_CASE("every op: NaN in an input is NaN in all that depends on it", "[engine]", float, double) {
    using T = TestType;
    for (const OpCase<T>& op : all_op_cases<T>()) {
        const std::vector<Array<T>> at = inputs_of(op);
        const Array<T> dy = cotangent(op, at);
        const auto rest = results(op, at, dy);
        for (std::size_t k = 0; k < at.size(); ++k) {
            for (std::size_t i = 0; i < at[k].size(); ++i) {
                INFO(op.name << ", NaN at element " << i << " of input " << k);
                const auto with = [&](T value) {
                    std::vector<Array<T>> other = at;
                    other[k] = at[k].clone();
                    other[k].data()[i] = value;
                    return results(op, other, dy);
                };
                const T here = at[k].data()[i];
                const std::vector moved{with(here + 20), with(op.is_positive ? here / 2 : here - 20),
                                        with(here * T{1.25})};
                const auto broken = with(kNanOf<T>);
                for (std::size_t r = 0; r < rest.size(); ++r) {
                    INFO((r == 0 ? std::string("value") : "gradient " + std::to_string(r - 1)));
                    if (op.name == "relu" && r > 0) {  // as PyTorch: 0 where x <= 0, else dy
                        CHECK(broken[r].data()[i] == dy.data()[i]);
                        continue;
                    }
                    if (op.name == "sort" || op.name == "topk") {  // a NaN takes its place, as the largest number
                        CHECK((r > 0 || std::isnan(max(Tensor<T>(broken[r])).item())));
                        continue;
                    }
                    const std::vector<Array<T>> m{moved[0][r], moved[1][r], moved[2][r]};
                    // A row with a NaN has no maximum, and so no share in it for anyone. As in PyTorch, 0 NaN is NaN:
                    // what a mask hides, and what an angle of 0 leaves as it is, become it too.
                    const bool by_zero = op.name == "softmax (masked)" || op.name.starts_with("dropout") ||
                                         op.name.starts_with("rotary");
                    const bool extreme =
                        op.name.find("max") != std::string::npos || op.name.starts_with("min ") || op.name == "min";
                    const bool alone = op.spread == Spread::alone && !by_zero && (r == 0 || !extreme);
                    check_spread(rest[r], m, broken[r], alone);
                }
            }
        }
    }
}

TEMPLATE_TEST_CASE("every op: NaN in a cotangent is NaN in all that depends on it", "[engine]", float, double) {
    using T = TestType;
    for (const OpCase<T>& op : all_op_cases<T>()) {
        const std::vector<Array<T>> at = inputs_of(op);
        const Array<T> dy = cotangent(op, at);
        const auto rest = results(op, at, dy);
        for (std::size_t j = 0; j < dy.size(); ++j) {
            INFO(op.name << ", NaN at element " << j << " of dy");
            const auto with = [&](T value) {
                Array<T> other = dy.clone();
                other.data()[j] = value;
                return results(op, at, other);
            };
            const auto moved = with(dy.data()[j] + 3), broken = with(kNanOf<T>);
            for (std::size_t r = 1; r < rest.size(); ++r) check_spread(rest[r], {moved[r]}, broken[r], false);
        }
    }
}

TEMPLATE_TEST_CASE("every op: undefined tensors are refused, naming the op", "[engine]", float, double) {
    using T = TestType;
    for (const OpCase<T>& op : all_op_cases<T>()) {
        for (std::size_t k = 0; k < op.shapes.size(); ++k) {
            if (op.name == "layer_norm" && k == 2) continue;  // a bias may be left out; so may linear's, and a gain
            if (op.name.starts_with("linear") && k == 2) continue;
            if (op.name == "rms_norm" && k == 1) continue;
            std::vector<Tensor<T>> in;
            for (const Shape& shape : op.shapes) in.emplace_back(Array<T>(shape, T{1}));
            in[k] = Tensor<T>();
            const std::string bare = op.name.substr(0, op.name.find(' '));
            INFO(op.name << ", input " << k);
            // neg is an affine; mean, rotary's slice and the pieces of others name what they call first
            const std::string named = bare == "neg" ? "affine" : bare == "rotary" ? "slice" : bare;
            CHECK_THROWS_WITH(op.f(in), ContainsSubstring(named));
            CHECK_THROWS_AS(op.f(in), Error);
        }
    }
    Tensor<T> none;
    CHECK_THROWS_WITH(none.item(), ContainsSubstring("item: a tensor with a value is required"));
    CHECK_THROWS_WITH(none.value_in_place(), ContainsSubstring("value_in_place: a tensor with a value is required"));
    CHECK_THROWS_WITH(backward(none), ContainsSubstring("backward: a tensor with a value is required"));
    CHECK_THROWS_WITH(embedding(IdArray(), Tensor<T>(Array<T>({2, 2}, T{1}))), ContainsSubstring("embedding: ids"));
    CHECK_THROWS_WITH(masked_fill(Tensor<T>(Array<T>({2, 2}, T{1})), MaskArray(), 1),
                      ContainsSubstring("masked_fill: a mask"));
}

TEST_CASE("every op: the table holds every op that gradcheck does", "[engine]") {
    std::set<std::string> names;
    for (const auto& op : all_op_cases<double>()) CHECK(names.insert(op.name).second);
    for (const GradcheckRow& row : gradcheck_ops()) {
        INFO(row.name);
        CHECK(names.count(row.name.substr(0, row.name.find(' '))) == 1);
    }
}
