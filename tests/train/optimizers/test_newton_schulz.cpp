// Newton-Schulz iterations against known bounds.
#include "train/optimizers/newton_schulz.h"

#include "engine/array/gemm.h"

static Array<double> diagonal(const std::vector<double>& values) {
    Array<double> d({1, values.size(), values.size()}, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) d.data()[i * (values.size() + 1)] = values[i];
    return d;
}

// The image of a singular value s of a matrix of norm 1, by the scalar polynomial.
static double image(double s, int steps) {
    for (int i = 0; i < steps; ++i) s = 3.4445 * s - 4.7750 * s * s * s + 2.0315 * s * s * s * s * s;
    return s;
}

TEST_CASE("newton-schulz: singular values go where the polynomial takes them, by Polar Express too", "[train]") {
    // recipes: [.01, 1] -> [.682, 1.134] in 5 steps; .003 up to 1.202; .001 down to .471
    double low = 10, high = 0;
    for (double s = 0.01; s <= 1; s += 1e-4) low = std::min(low, image(s, 5)), high = std::max(high, image(s, 5));
    CHECK_ALL(low == Approx(0.682).margin(1e-3), high == Approx(1.134).margin(1e-3));
    CHECK(image(0.001, 5) == Approx(0.471).margin(1e-3));
    const std::vector<double> values = {0.9, 0.4, 0.1, 0.02, 0.004};
    double norm = 0;
    for (const double v : values) norm += v * v;
    norm = std::sqrt(norm) + 1e-7;
    for (const std::size_t steps : {1, 3, 5}) {
        std::vector<double> expected;
        for (const double v : values) expected.push_back(image(v / norm, static_cast<int>(steps)));
        check_close(newton_schulz(diagonal(values), steps), diagonal(expected), 1e-12);
    }
    // made with NumPy from the paper's numbers; the sixth step is as the fifth
    const auto after = [](std::size_t steps) {
        return newton_schulz(diagonal({1, 0.3, 0.05, 0.002}), steps, train::NewtonSchulz::polar_express);
    };
    check_close(after(4), diagonal({1.553149374193, 0.55276931813, 1.494367523686, 0.756351566786}), 1e-10);
    check_close(after(5), diagonal({1.063770043504, 1.030154775513, 0.95489346131, 1.139775271205}), 1e-10);
    check_close(after(6), diagonal({1.014524885954, 1.039147216295, 1.088015507047, 0.957009970893}), 1e-10);
    const WithPrecision scope(Precision::bf16);  // does not diverge where rounding takes singular values above 1
    for (const float x : newton_schulz(Array<float>({1, 8, 8}, 1.0f), 5, train::NewtonSchulz::polar_express))
        CHECK(std::abs(x) < 0.2f);
}

TEST_CASE("newton-schulz: wide, tall and stacked matrices come out nearly orthogonal, in bf16 nearly so", "[train]") {
    for (const Shape& shape : {Shape{1, 7, 33}, Shape{1, 33, 7}, Shape{3, 8, 20}}) {
        const Array<float> u = random_array<float>(shape, 3), o = newton_schulz(u, 5);
        check_close(o, newton_schulz(cast<double>(u), 5), 1e-4, to_string(shape));
        check_close(newton_schulz(Array<float>(u * 1e-3f), 5), o, 1e-3, "a shorter one");
        const std::size_t small = std::min(shape[1], shape[2]);
        const Array<float> x = shape[1] > shape[2] ? o.transposed(1, 2) : o;
        Array<float> gram({shape[0], small, small});
        gemm(x, x.transposed(1, 2), gram);
        for (std::size_t b = 0; b < shape[0]; ++b) {
            for (std::size_t i = 0; i < small; ++i) {
                const float square = gram.data()[(b * small + i) * small + i];
                CHECK_ALL(square > 0.4, square < 1.5);
            }
            const Array<float> alone = newton_schulz(u.sliced(0, b, b + 1), 5);
            check_close(o.sliced(0, b, b + 1), alone, 1e-5, "each for itself");
        }
        const WithPrecision scope(Precision::bf16);
        const Array<float> half = newton_schulz(u, 5);
        CHECK_FALSE(same_bits(half, o));
        check_close(half, o, 0.2, "bf16");
    }
    CHECK(same_bits(newton_schulz(Array<float>({1, 3, 4}, 0.0f), 5), Array<float>({1, 3, 4}, 0.0f)));
    CHECK_THROWS_WITH(newton_schulz(Array<float>({3, 4}, 0.0f), 5), contains("(3, 4)"));
}
