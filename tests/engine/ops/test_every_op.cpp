// Properties of every op: float agrees with double; the bits are the same on every CPU (tests/reference/bits.json; this
// test prints new ones) and with any number of threads; NaN in gives NaN out, in value and gradient, at every position;
// undefined tensors are errors.
#include <bit>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "engine/gradcheck/op_cases.h"
#include "engine/ops.h"
#include "tests/engine/helpers.h"
#include "tests/paths.h"
#include "tests/reference/read.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T>
bool differs(T a, T b) {
    return std::isnan(a) != std::isnan(b) || (!std::isnan(a) && a != b);
}

template <class T>
constexpr T kNanOf = std::numeric_limits<T>::quiet_NaN();

// `broken` must be NaN at the elements that change with the replaced number; with `alone`, all other elements must stay
// the same. Returns the number of changing elements.
template <class T>
std::size_t check_spread(const Array<T>& at_rest, const std::vector<Array<T>>& moved, const Array<T>& broken,
                         bool alone) {
    std::size_t dependent = 0;
    for (std::size_t j = 0; j < at_rest.size(); ++j) {
        const T before = at_rest.data()[j], after = broken.data()[j];
        bool depends = false;
        for (const Array<T>& m : moved) depends = depends || differs(before, m.data()[j]);
        dependent += depends;
        if (depends ? std::isnan(after) : !alone || !differs(before, after)) continue;
        FAIL("element " << j << " of shape " << to_string(at_rest.shape()) << ": " << before << " became " << after);
    }
    return dependent;
}

// Value and gradients as dense arrays.
template <class T>
std::vector<Array<T>> results(const OpCase<T>& row, const std::vector<Array<T>>& at, const Array<T>& dy) {
    const Computed<T> r = run<T>(row.function, at, dy);
    std::vector<Array<T>> all{r.value.clone()};
    for (const auto& g : r.grads) all.push_back(g.clone());
    return all;
}

template <class T>
std::vector<Array<T>> inputs_of(const OpCase<T>& row) {
    std::vector<Array<T>> at;
    for (const Array<double>& x : row.inputs.at(0)) at.push_back(cast<T>(x));
    return at;
}

template <class T>
Array<T> cotangent(const OpCase<T>& row, const std::vector<Array<T>>& at) {
    std::vector<Tensor<T>> in;
    for (const auto& a : at) in.emplace_back(a);
    return random_array<T>(row.function(in).shape(), 5);
}

// Rows whose value, and so whose gradient of 0, depends on no element.
const std::set<std::string> kConstant = {"pow 0", "var of one number"};

// Ops whose gradient is 0.
const std::set<std::string> kSteps = {"floor", "ceil", "trunc", "round", "sign"};

const std::set<std::string> kOrders = {"sort", "topk", "cummax", "cummin"};

// The op that a row calls first, if it is not the row's own.
const std::map<std::string, std::string> kCallsFirst = {
    {"neg", "affine"},
    {"asin of a sine", "sin"},
    {"acos of a sine", "sin"},
    {"tan of a sine", "sin"},
    {"atanh of a sine", "sin"},
    {"acosh of a sum", "affine"},
    {"one_hot", "mul"},
    {"masked_fill and softmax", "axis"},
    {"reshape transposed", "transpose"},
    {"expand a new axis", "unsqueeze"},
    {"matmul transposed", "transpose"},
    {"matmul transposed first", "transpose"},
    {"add_low_rank behind linear", "linear"},
    {"attention of heads", "split"},
};

// A row's first inputs with n in place of the size 37, which stands for any length, and, if `rows` is not 0, with
// `rows` in place of that array's other sizes. Empty if the row has no size 37.
std::vector<Array<double>> stretched(CaseInputs inputs, std::size_t n, std::size_t rows = 0) {
    bool any = false;
    for (Shape& shape : inputs.shapes[0]) {
        if (std::find(shape.begin(), shape.end(), 37) == shape.end()) continue;
        any = true;
        for (std::size_t& size : shape) size = size == 37 ? n : rows ? rows : size;
    }
    return any ? inputs.at(0) : std::vector<Array<double>>();
}

template <class T>
Computed<T> run_row(const OpCase<T>& row, const std::vector<Array<double>>& at) {
    std::vector<Array<T>> in;
    for (const auto& x : at) in.push_back(cast<T>(x));
    return run<T>(row.function, in);
}

}  // namespace

TEST_CASE("every op: float agrees with double at any length of a row", "[engine]") {
    const auto narrow = op_cases<float>();
    const auto wide = op_cases<double>();
    for (std::size_t i = 0; i < narrow.size(); ++i) {
        const std::string op = narrow[i].op();
        const bool spread = op == "var" || op == "std" || op.ends_with("_norm");  // two numbers lose all their digits
        const std::size_t shortest = spread || narrow[i].name == "softmax masked" ? 3 : 1;  // else a row sees nothing
        for (const std::size_t n : kRagged) {
            const auto at = stretched(narrow[i].inputs, n);
            if (at.empty() || n < shortest) continue;
            const auto a = run_row(narrow[i], at);
            const auto b = run_row(wide[i], at);
            const std::string where = fmt::format("{} at length {}", narrow[i].name, n);
            check_close(a.value, b.value, spread ? 5e-5 : 1e-5, where);
            for (std::size_t k = 0; k < at.size(); ++k) {
                INFO("gradient " << k);
                check_close(a.grads[k], b.grads[k], spread ? 5e-5 : 1e-5, where);
            }
        }
    }
}

// Functions of <cmath>, whose last bits depend on the C library.
const std::set<std::string> kOfTheLibrary = {"pow", "asin", "acos", "atan"};

TEST_CASE("every op: the same bits on every CPU, with every compiler", "[engine]") {
    const nlohmann::json expected = reference("bits.json");
    nlohmann::ordered_json found;
    std::vector<std::string> differ;
    for (const OpCase<float>& row : op_cases<float>()) {
        if (kOfTheLibrary.contains(row.op()) || row.name.ends_with("bf16")) continue;
        auto at = stretched(row.inputs, 517, 19);
        if (at.empty()) at = row.inputs.at(0);
        const Computed<float> computed = run_row(row, at);
        std::uint32_t hash = 2166136261;  // Fowler, Noll and Vo's
        const auto take = [&](const ConstArray<float>& any) {
            for (const float x : any.contiguous().clone()) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 16777619;
        };
        take(computed.value);
        for (const auto& g : computed.grads) take(g);
        const std::string text = fmt::format("{:08x}", hash);
        if (expected.value(row.name, "") != text) differ.push_back(row.name);
        found[row.name] = text;
    }
    INFO(found.dump(2));
    CHECK(differ == std::vector<std::string>());
    CHECK(expected.size() == found.size());
}

TEST_CASE("every op: the same bits with any number of threads", "[engine][slow]") {
    for (const OpCase<float>& row : op_cases<float>()) {
        const auto at = stretched(row.inputs, 517, 301);
        if (!at.empty()) check_same_with_any_threads(row.name, [&] { return all_of(run_row(row, at)); });
    }
}

TEMPLATE_TEST_CASE("every op: NaN in an input is NaN in all that depends on it", "[engine][unsanitized]", float,
                   double) {
    using T = TestType;
    for (const OpCase<T>& row : op_cases<T>()) {
        const std::vector<Array<T>> at = inputs_of(row);
        const Array<T> dy = cotangent(row, at);
        const auto rest = results(row, at, dy);
        std::size_t dependent = 0;
        for (std::size_t k = 0; k < at.size(); ++k) {
            const bool positive =
                row.inputs.domain == Domain::positive || (row.inputs.domain == Domain::positive_first && k == 0);
            for (std::size_t i = 0; i < at[k].size(); ++i) {
                INFO(row.name << ", NaN at element " << i << " of input " << k);
                const auto with = [&](T value) {
                    std::vector<Array<T>> other = at;
                    other[k] = at[k].clone();
                    other[k].data()[i] = value;
                    return results(row, other, dy);
                };
                const T here = at[k].data()[i];
                const std::vector moved{with(here + 20), with(positive ? here / 2 : here - 20), with(here / 16)};
                const auto broken = with(kNanOf<T>);
                for (std::size_t r = 0; r < rest.size(); ++r) {
                    INFO((r == 0 ? std::string("value") : "gradient " + std::to_string(r - 1)));
                    if (row.op() == "relu" && r > 0) {  // as PyTorch: 0 where x <= 0, else dy
                        CHECK(broken[r].data()[i] == dy.data()[i]);
                        continue;
                    }
                    if (kOrders.contains(row.op())) {  // a NaN takes its place, as the largest number
                        if (r == 0) CHECK(std::isnan(max(Tensor<T>(broken[r])).item()));
                        continue;
                    }
                    const std::vector<Array<T>> m{moved[0][r], moved[1][r], moved[2][r]};
                    const bool alone = row.inputs.nan == Nan::alone || (row.inputs.nan == Nan::gradients && r == 0);
                    dependent += check_spread(rest[r], m, broken[r], alone);
                }
            }
        }
        INFO(row.name);
        if (!kOrders.contains(row.op())) CHECK((dependent > 0) != kConstant.contains(row.name));
    }
}

TEMPLATE_TEST_CASE("every op: NaN in a cotangent is NaN in all that depends on it", "[engine]", float, double) {
    using T = TestType;
    for (const OpCase<T>& row : op_cases<T>()) {
        const std::vector<Array<T>> at = inputs_of(row);
        const Array<T> dy = cotangent(row, at);
        const auto rest = results(row, at, dy);
        std::size_t dependent = 0;
        for (std::size_t j = 0; j < dy.size(); ++j) {
            INFO(row.name << ", NaN at element " << j << " of dy");
            const auto with = [&](T value) {
                Array<T> other = dy.clone();
                other.data()[j] = value;
                return results(row, at, other);
            };
            const auto moved = with(dy.data()[j] + 3), broken = with(kNanOf<T>);
            for (std::size_t r = 1; r < rest.size(); ++r)
                dependent += check_spread(rest[r], {moved[r]}, broken[r], false);
        }
        INFO(row.name);
        CHECK((dependent > 0) != (kConstant.contains(row.name) || kSteps.contains(row.name)));
    }
}

TEMPLATE_TEST_CASE("every op: undefined tensors are refused, naming the op", "[engine]", float, double) {
    using T = TestType;
    for (const OpCase<T>& row : op_cases<T>()) {
        const std::vector<Shape>& shapes = row.inputs.shapes[0];
        for (std::size_t k = 0; k < shapes.size(); ++k) {
            // the last input may be left out: a bias, or the gain of a norm without a bias
            if (k > 0 && k + 1 == shapes.size() && row.op().ends_with("_norm")) continue;
            if (k == 2 && (row.op().starts_with("linear") || row.op().starts_with("conv"))) continue;
            std::vector<Tensor<T>> in;
            for (const Shape& shape : shapes) in.emplace_back(Array<T>(shape, T{1}));
            in[k] = Tensor<T>();
            INFO(row.name << ", input " << k);
            const auto found = kCallsFirst.find(row.name);
            const std::string first = found != kCallsFirst.end() ? found->second
                                      : row.op() == "rotate"     ? "transpose"
                                                                 : row.op();
            CHECK_THROWS_WITH(row.function(in), contains(first) || contains(row.op()));
            CHECK_THROWS_AS(row.function(in), Error);
        }
    }
    Tensor<T> none;
    CHECK_THROWS_WITH(none.item(), contains("item: a tensor with a value is required"));
    CHECK_THROWS_WITH(none.value_in_place(), contains("value_in_place: a tensor with a value is required"));
    CHECK_THROWS_WITH(backward(none), contains("backward: a tensor with a value is required"));
    CHECK_THROWS_WITH(embedding(IdArray(), Tensor<T>(Array<T>({2, 2}, T{1}))), contains("embedding: ids"));
    CHECK_THROWS_WITH(masked_fill(Tensor<T>(Array<T>({2, 2}, T{1})), MaskArray(), 1), contains("masked_fill: a mask"));
}

TEST_CASE("every op: the table has a row for each function of engine/ops, and no name twice", "[engine]") {
    std::set<std::string> names, ops;
    for (const auto& row : op_cases<double>()) {
        CHECK(names.insert(row.name).second);
        ops.insert(row.op());
    }
    const std::set<std::string> parts{"attention_heads.h", "attention_operands.h", "attention_block.h",  // no ops
                                      "attention_masks.h", "unary_op.h",           "derivatives.h",     "formula.h"};
    const std::set<std::string> no_rows{"as_tensor", "sum_to", "scale"};
    std::size_t declared = 0;
    std::vector<std::filesystem::path> headers;
    for (const char* room : {"ops", "fused", "more"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(tests_path("../engine/") + room))
            headers.push_back(entry.path());
    for (const auto& header : headers) {
        const std::string name = header.filename().string();
        if (!name.ends_with(".h") || parts.contains(name)) continue;
        std::ifstream in(header);
        const std::regex declares("^(?:Tensor|Ordered|std::vector<Tensor)<T>>? (\\w+)\\(.*");
        std::smatch found;
        for (std::string line; std::getline(in, line);) {
            if (!std::regex_match(line, found, declares) || no_rows.contains(found[1])) continue;
            INFO(found[1]);
            ++declared;
            CHECK(ops.contains(found[1]));
        }
    }
    CHECK(declared > 100);
}
