// The gradient checker: every op's row is far below its bound, and wrong gradients fail.
#include "engine/gradcheck/gradcheck.h"

#include "engine/gradcheck/op_cases.h"

using Wrong = std::function<Array<double>(const ConstArray<double>& dy, const ConstArray<double>& x)>;

// x^2 with a given gradient.
static double error_with(const Wrong& gradient, const Array<double>& at = normal({3, 4}, 1)) {
    const auto square = [&](const Inputs& in) {
        const Tensor<double>& x = in[0];
        const Array<double> y = x.value() * x.value();
        return record("square", y, inputs(x),
                      [gradient, x = Saved(x)](const Array<double>& dy, Gradients<double>& grads) {
                          grads.add(0, gradient(dy, *x));
                      });
    };
    return gradient_error(square, {at});
}

TEST_CASE("gradcheck: every op's gradient agrees with finite differences", "[engine][unsanitized]") {
    for (const OpCase<double>& row : op_cases<double>()) {
        const double error = gradient_error(row);
        INFO(row.name << ": " << error);
        CHECK(error < 1e-8);
    }
}

TEST_CASE("gradcheck: an op's row is the worst of its cases, a right gradient passes, a wrong one not", "[engine]") {
    double worst = 0;
    for (const OpCase<double>& row : op_cases<double>())
        if (row.op() == "pow") worst = std::max(worst, gradient_error(row));
    std::size_t rows = 0;
    for (const GradcheckRow& row : gradcheck_ops()) {
        if (row.name != "pow") continue;
        CHECK(row.worst_error() == worst);
        ++rows;
    }
    CHECK(rows == 1);
    CHECK(error_with([](const auto& dy, const auto& x) -> Array<double> { return 2.0 * dy * x; }) < 1e-9);
    CHECK(error_with([](const auto& dy, const auto& x) -> Array<double> { return -2.0 * dy * x; }) > 1);
    CHECK(error_with([](const auto& dy, const auto& x) -> Array<double> { return dy * x; }) > 0.4);
    CHECK(error_with([](const auto& dy, const auto& x) -> Array<double> { return 2.0 * x + 0.0 * dy; }) > 0.1);
    CHECK(error_with([](const auto& dy, const auto& x) -> Array<double> { return 2.0001 * dy * x; }) > 1e-5);
    CHECK(error_with([](const auto& dy, const auto&) { return Array<double>(dy.shape(), 0.0); }) > 0.9);
    CHECK(error_with([](const auto& dy, const auto& x) -> Array<double> {
              Array<double> g = 2.0 * dy * x;
              g.data()[7] += 1e-3;  // one element alone
              return g;
          }) > 1e-4);
    const auto not_a_number = [](const auto& dy, const auto&) { return Array<double>(dy.shape(), std::nan("")); };
    CHECK(error_with(not_a_number) == kInfinity);
}

TEST_CASE("gradcheck: the cotangent sees what a sum cannot, and steps get shorter near kinks", "[engine]") {
    // softmax sums to 1, so a backward that returns 0 is right only for sum()
    const auto flat = [](const Inputs& in) {
        return record("flat", softmax(in[0]).value(), inputs(in[0]),
                      [](const auto& dy, Gradients<double>& grads) { grads.add(0, Array<double>(dy.shape(), 0.0)); });
    };
    CHECK(gradient_error(flat, {normal({2, 5}, 1)}) > 0.9);
    CHECK(gradient_error([&](const Inputs& in) { return sum(flat(in)); }, {normal({2, 5}, 1)}) < 1e-4);
    const auto error = [](const auto& op, const std::vector<double>& at) {
        return gradient_error([&](const Inputs& in) { return op(in[0]); }, {of<double>(at)});
    };
    const auto squared = [](const auto& x) { return squared_relu(x); };
    CHECK(error(squared, {1e-4, -1e-4, 2.0}) < 1e-8);  // with a step of 2e-4 alone: 1e-4
    CHECK(error([](const auto& x) { return relu(x); }, {1e-4, -1e-4, 2.0}) < 1e-8);
    const auto norm = [](const auto& x) { return rms_norm(x, {}, 1e-12); };
    CHECK(error(norm, {3e-3, -4e-3}) < 1e-8);  // 1e-5
    CHECK(error_with([](const auto& dy, const auto& x) -> Array<double> { return 2.00001 * dy * x; },
                     of<double>({1e-4, -1e-4, 2.0})) > 1e-6);
    const Array<double> at = normal({5}, 1), before = at.clone();
    CHECK_ALL(gradient_error([](const Inputs& in) { return exp(in[0]); }, {at}) < 1e-8, same_bits(at, before));
    const Tensor<double> w(at.clone(), true), b(normal({5}, 2), true);
    CHECK(parameter_gradient_error([&] { return sum(mul(exp(w), b)); }, {w, b}) < 1e-8);
    CHECK(same_bits(w.value(), before));
    const auto forgets_b = [&] { return sum(mul(exp(w), b.detach())); };
    CHECK(parameter_gradient_error(forgets_b, {w, b}) > 0.9);
    for (const double v : away_from_zero(normal({1000}, 3))) CHECK(std::abs(v) >= 0.1);
    for (const double v : positive(normal({1000}, 4))) CHECK(v >= 0.5);  // inputs keep away from kinks and poles
    CHECK_ALL(same_bits(normal({10}, 5), normal({10}, 5)), !same_bits(normal({10}, 5), normal({10}, 6)));
}
