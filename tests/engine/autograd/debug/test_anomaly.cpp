// Anomaly detection names the first value that is not finite: the op, the part of the model, the element, and the size
// of its inputs; in forward and in backward.
#include "engine/autograd/debug/anomaly.h"

#include "engine/gradcheck/op_cases.h"
#include "nn/checkpoint.h"
#include "nn/linear.h"
#include "nn/sequential.h"

// The message of the Anomaly that f() throws; "" if it throws none.
template <class F>
static std::string anomaly_of(const F& f) {
    const DetectAnomaly detect;
    return error_of<Anomaly>(f);
}

TEST_CASE("anomaly: the op, the element and the inputs are named, without a gradient too", "[engine]") {
    const auto x = Tensor<float>::from({{1, 2, 3}, {4, 100, 6}}, true);
    CHECK(anomaly_of([&] { exp(x * 2); }) ==
          "exp: the first value that is not finite is inf at (1, 1) of (2, 3); its input is at most 200");
    CHECK(anomaly_of([&] { sqrt(x - 2); }) ==
          "sqrt: the first value that is not finite is nan at (0, 0) of (2, 3); its input is at most 98");
    const auto large = Tensor<float>::from({{1e20f, 1}}, true), larger = Tensor<float>::from({{3e20f, 1}}, true);
    CHECK(anomaly_of([&] { large* larger; }) ==
          "mul: the first value that is not finite is inf at (0, 0) of (1, 2); its inputs are at most 1e+20, 3e+20");
    CHECK(anomaly_of([&] { x * 2; }) == "");
    const auto wide = Tensor<double>::from({{1, 2}, {800, 4}});
    CHECK_THAT(anomaly_of([&] { exp(transpose(wide, 0, 1)); }),
               contains("exp: ", "inf at (0, 1) of (2, 2); its input is at most 800"));
    const NoGrad no_graph;
    CHECK_THAT(anomaly_of([&] { exp(Tensor<double>(wide.value(), true)); }), contains("inf at (1, 0)"));
    CHECK(anomaly_of([] { exp(Tensor<float>::zeros({0, 3})); }) == "");
    const auto w = Tensor<float>::from({{1, 2}, {std::nan(""), 4}}, true);
    const auto ones = Tensor<float>::ones({3, 2});
    CHECK(anomaly_of([&] { linear(ones, w); }) ==
          "linear: its input 1 is not finite already: it is nan at (1, 0) of (2, 2)");
    IdArray ids({2}, 0);  // not the bad row
    CHECK_THAT(anomaly_of([&] { embedding(ids, w); }), contains("embedding: its input 0 is not finite"));
}

TEST_CASE("anomaly: infinities asked for pass, and the backward that is first not finite is named", "[engine]") {
    const auto x = Tensor<float>::from({{1, 2}, {3, 4}}, true);
    MaskArray upper({2, 2}, false);
    upper(0, 1) = true;
    const auto masked = [&] { return masked_fill(x, upper, -kInfinity) * 0.5; };
    CHECK(anomaly_of([&] { sum(pow(softmax(masked(), -1), 2)).backward(); }) == "");
    CHECK(anomaly_of([&] {
              masked() - masked();
          }).starts_with("sub: the first value that is not finite is nan at (0, 1) of (2, 2)"));
    const auto mask = Tensor<float>(of<float>({2, 2}, {0, -kInfinity, 0, 0}));  // a constant that is added
    CHECK(anomaly_of([&] { sum(softmax(x + mask, -1)).backward(); }) == "");
    const auto both = [&] { return concatenate({x, x + mask}, 0) * 0; };
    CHECK_THAT(anomaly_of(both), contains(": the first value that is not finite is nan at (2, 1)"));
    const auto z = Tensor<float>::from({{4, 0}, {9, 1}}, true);
    CHECK(anomaly_of([&] { sum(sqrt(z * 1) * 3).backward(); }) ==
          "backward of sqrt: the first gradient that is not finite is inf at (0, 1) of (2, 2), of input 0; the "
          "gradient of its output is at most 3");
    const auto tiny = Tensor<float>::full({1}, 1e-30f, true);
    CHECK_THAT(anomaly_of([&] { sum((tiny * 1e25f) * 1e25f).backward(); }), contains("backward of "));
    // the pieces of a split write into one array, which is complete only after the last one
    const auto wide = Tensor<float>(random_array<float>({4, 6}, 1), true);
    const auto use = [&](bool bad) {
        return anomaly_of([&] {
            const auto p = split(wide * 1, 3, 1);
            const auto q = bad ? sqrt(p[1] * 0) : p[1];
            const Tensor<float> y = sum(p[0] * p[2]) + sum(q);
            Array<float>({4, 6}, NAN);  // the pool gives its memory to the gradient
            y.backward();
        });
    };
    CHECK(use(false) == "");
    CHECK_THAT(use(true), contains("backward of sqrt: ", "of (4, 2)"));
}

TEST_CASE("anomaly: regions name the part of a model, backward too, and recomputed blocks", "[engine]") {
    const auto x = Tensor<float>::from({{0, 1}}, true);
    const auto block = [](const Tensor<float>& in, std::size_t i) {
        const Region region("block", i);
        const Tensor<float> a = [&] {
            const Region inner("attention");
            return i == 2 ? sqrt(in) : in * 2;
        }();
        return a * 1;
    };
    const auto model = [&](const Tensor<float>& in) { return sum(block(block(block(in, 0), 1), 2)); };
    CHECK(anomaly_of([&] { model(x).backward(); }).starts_with("block 2, attention: backward of sqrt: "));
    CHECK(anomaly_of([&] { model(x - 1); }).starts_with("block 2, attention: sqrt: "));
    CHECK(anomaly_of([&] { model(x * std::numeric_limits<float>::max()); }).starts_with("block 0, attention: "));
    const nn::Sequential<float> steps(relu<float>, sqrt<float>);
    CHECK(anomaly_of([&] { sum(steps.forward(x)).backward(); }).starts_with("step 1: backward of sqrt: "));
    CHECK(anomaly_of([&] {
              sum(nn::checkpoint<float>([&](const auto& in, Generator*) { return block(in, 2); }, x)).backward();
          }).starts_with("block 2, attention: backward of sqrt: "));
    CHECK(Region::path() == "");
}

TEST_CASE("anomaly: only while one lives, on its own thread, and an op that fails leaves nothing", "[engine]") {
    const auto nan = Tensor<float>::from({1, std::numeric_limits<float>::quiet_NaN()}, true);
    const auto fine = Tensor<float>::from({1000, 1}, true);
    const auto x = Tensor<float>::full({2}, 1000, true);
    CHECK(std::isinf(exp(x).value()(0)));
    {
        const DetectAnomaly outer;
        { const DetectAnomaly inner; }
        CHECK(DetectAnomaly::active());
        bool elsewhere = true;
        std::thread([&] { elsewhere = DetectAnomaly::active(); }).join();
        CHECK_FALSE(elsewhere);
        CHECK_THROWS_AS(exp(x), Anomaly);
    }
    CHECK_ALL(!DetectAnomaly::active(), std::isinf(exp(x).value()(0)));
    const DetectAnomaly detect;
    CHECK_THROWS(concatenate<float>({nan, Tensor<float>::ones({2, 2})}, 0));  // seen, and then refused
    const std::string message = anomaly_of([&] { exp(fine); });  // not the fault of an input that it does not have
    CHECK(message == "exp: the first value that is not finite is inf at (0,) of (2,); its input is at most 1e+03");
}

TEST_CASE("anomaly: every op is named when it gets a NaN, and its bits are the same under the check", "[engine]") {
    for (const OpCase<float>& row : op_cases<float>()) {
        INFO(row.name);
        typename OpCase<float>::In in, bad;
        for (const Array<double>& x : row.inputs.at(0)) {
            in.emplace_back(cast<float>(x), true);
            Array<float> b = cast<float>(x);
            b.data()[b.size() / 2] = std::nanf("");
            bad.emplace_back(b);  // no leaf that wants a gradient: that would be told first
        }
        const Tensor<float> y = row.function(in);
        Tensor<float> checked;
        CHECK(anomaly_of([&] { checked = row.function(in); }) == "");
        if (checked.defined()) CHECK(same_bits(checked.value(), y.value()));
        if (row.name == "dropout 0" || row.name.starts_with("repeat 1 ")) continue;  // x itself
        if (first_not_finite(row.function(bad).value()) != "") CHECK(anomaly_of([&] { row.function(bad); }) != "");
    }
}
