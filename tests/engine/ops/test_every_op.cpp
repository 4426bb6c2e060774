// Properties of every op: float agrees with double; the bits are the same on every CPU (tests/reference/bits.json; this
// test prints new ones) and with any number of threads; NaN in gives NaN out, in value and gradient, at every position;
// undefined tensors are errors.
#include "engine/gradcheck/op_cases.h"

template <class T>
static bool differs(T a, T b) {
    return std::isnan(a) != std::isnan(b) || (!std::isnan(a) && a != b);
}

template <class T>
constexpr T kNanOf = std::numeric_limits<T>::quiet_NaN();

// `broken` must be NaN at the elements that change with the replaced number; with `alone`, all other elements must stay
// the same. Returns the number of changing elements.
template <class T>
static std::size_t check_spread(const Array<T>& at_rest, const std::vector<Array<T>>& moved, const Array<T>& broken,
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
static std::vector<Array<T>> results(const OpCase<T>& row, const std::vector<Array<T>>& at, const Array<T>& dy) {
    const Computed<T> r = run<T>(row.function, at, dy);
    std::vector<Array<T>> all{r.value.clone()};
    for (const auto& g : r.grads) all.push_back(g.clone());
    return all;
}

template <class T>
static std::vector<Array<T>> inputs_of(const OpCase<T>& row) {
    std::vector<Array<T>> at;
    for (const Array<double>& x : row.inputs.at(0)) at.push_back(cast<T>(x));
    return at;
}

template <class T>
static Array<T> cotangent(const OpCase<T>& row, const std::vector<Array<T>>& at) {
    std::vector<Tensor<T>> in;
    for (const auto& a : at) in.emplace_back(a);
    return random_array<T>(row.function(in).shape(), 5);
}

// Rows whose value, and so whose gradient of 0, depends on no element.
const std::set<std::string> kConstant = {"pow 0", "var of one number"};

// Ops whose gradient is 0.
const std::set<std::string> kSteps = {"floor", "ceil", "trunc", "round", "sign"};

const std::set<std::string> kOrders = {"sort", "topk", "cummax", "cummin"};

// A row's first inputs with n in place of the size 37, which stands for any length, and, if `rows` is not 0, with
// `rows` in place of that array's other sizes. Empty if the row has no size 37.
static std::vector<Array<double>> stretched(CaseInputs inputs, std::size_t n, std::size_t rows = 0) {
    bool any = false;
    for (Shape& shape : inputs.shapes[0]) {
        if (std::find(shape.begin(), shape.end(), 37) == shape.end()) continue;
        any = true;
        for (std::size_t& size : shape) size = size == 37 ? n : rows ? rows : size;
    }
    return any ? inputs.at(0) : std::vector<Array<double>>();
}

template <class T>
static Computed<T> run_row(const OpCase<T>& row, const std::vector<Array<double>>& at) {
    std::vector<Array<T>> in;
    for (const auto& x : at) in.push_back(cast<T>(x));
    return run<T>(row.function, in);
}

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
            for (std::size_t k = 0; k < at.size(); ++k)
                WITH_INFO("gradient " << k, check_close(a.grads[k], b.grads[k], spread ? 5e-5 : 1e-5, where));
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
    CHECK_ALL(differ == std::vector<std::string>(), expected.size() == found.size());
}

TEST_CASE("every op: the same bits with any number of threads", "[engine][slow]") {
    for (const OpCase<float>& row : op_cases<float>()) {
        const auto at = stretched(row.inputs, 517, 301);
        if (!at.empty()) check_same_with_any_threads(row.name, [&] { return all_of(run_row(row, at)); }, {3, 8});
    }
}

TEMPLATE_TEST_CASE("every op: an input's NaN reaches all that depends on it", "[engine][unsanitized]", float, double) {
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
