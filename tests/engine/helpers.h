// Helpers of the engine's tests: small arrays by value, comparisons that report the worst element, and runs of an op in
// float against double or with several numbers of threads.
#pragma once

#include <omp.h>

#include "engine/autograd/backward.h"
#include "engine/base/random.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/process/adaptive_threads.h"

namespace inkling::testing {

// Sizes around those of vectors and blocks.
inline const std::vector<std::size_t> kRagged = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129};
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
Array<T> of(const Shape& shape, const std::vector<double>& values) {
    Array<T> a(shape);
    REQUIRE(values.size() == a.size());
    std::transform(values.begin(), values.end(), a.data(), [](double v) { return static_cast<T>(v); });
    return a;
}

template <class T>
Array<T> of(const std::vector<double>& values) {
    return of<T>({values.size()}, values);
}

inline Array<double> counting(const Shape& shape) {  // 0, 1, 2, ...
    Array<double> a(shape);
    std::iota(a.data(), a.data() + a.size(), 0.0);
    return a;
}

// Converts an Array or a ConstArray.
template <class To, class From>
Array<To> cast(const From& from) {
    const auto dense = from.contiguous();
    Array<To> to(from.shape());
    std::transform(dense.data(), dense.data() + dense.size(), to.data(), [](auto v) { return static_cast<To>(v); });
    return to;
}

// Normal numbers that float holds exactly, so that float and double runs start from the same values.
template <class T>
Array<T> random_array(const Shape& shape, std::uint64_t seed) {
    return cast<T>(cast<float>(normal(shape, seed)));
}

// (1, n): one text.
inline IdArray row_of(std::span<const std::int32_t> ids) {
    IdArray row({1, ids.size()});
    std::copy(ids.begin(), ids.end(), row.data());
    return row;
}

inline IdArray random_ids(const Shape& shape, std::size_t below, std::uint64_t seed) {
    IdArray ids(shape);
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids.data()[i] = static_cast<std::int32_t>(random_below({seed, 9}, i, below));
    return ids;
}

// The oracle of gemm(): C (+)= A B + bias by the plain loop, for a dense C. The leading axes broadcast to C's.
inline void plain_product(const ConstArray<double>& a, const ConstArray<double>& b, Array<double>& c,
                          bool accumulate = false, const ConstArray<double>& bias = {}) {
    const std::size_t M = c.dim(-2), N = c.dim(-1), K = a.dim(-1);
    const auto dense = [&c](const ConstArray<double>& x) {
        Shape shape = c.shape();
        shape[c.rank() - 2] = x.dim(-2), shape.back() = x.dim(-1);
        return x.broadcasted(shape).contiguous();
    };
    const ConstArray<double> left = dense(a), right = dense(b);
    for (std::size_t r = 0; r * N < c.size(); ++r) {  // over the rows of all batches
        double* const row = c.data() + r * N;
        for (std::size_t j = 0; j < N; ++j) row[j] = (accumulate ? row[j] : 0) + (bias.defined() ? bias(j) : 0);
        const double *from = left.data() + r * K, *to = right.data() + r / M * K * N;  // these tests are not optimized
        for (const double* const end = from + K; from != end; ++from, to += N)
            for (std::size_t j = 0; j < N; ++j) row[j] += *from * to[j];
    }
}

// Requires equal shapes, and differences of at most `tolerance` times the largest of 0.01, the expected value, and the
// expected array's root mean square. Infinities must be equal; NaN matches NaN.
template <class A, class B>  // Arrays or ConstArrays
void check_close(const A& actual_any, const B& expected_any, double tolerance, const std::string& what = "value") {
    INFO(what);
    REQUIRE(to_string(actual_any.shape()) == to_string(expected_any.shape()));
    const auto actual = actual_any.contiguous();
    const auto expected = expected_any.contiguous();
    double squares = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto e = static_cast<double>(expected.data()[i]);
        if (std::isfinite(e)) squares += e * e;
    }
    const double typical = std::sqrt(squares / std::max<double>(1, static_cast<double>(expected.size())));
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto a = static_cast<double>(actual.data()[i]), e = static_cast<double>(expected.data()[i]);
        double error = std::abs(a - e) / std::max({0.01, std::abs(e), typical});
        if (a == e || (std::isnan(a) && std::isnan(e))) error = 0;
        if (!std::isfinite(error)) error = kInfinity;
        if (error > worst) worst = error, where = i;
    }
    INFO("worst at element " << where << " of shape " << to_string(expected.shape()));
    if (worst > tolerance) INFO("got " << +actual.data()[where] << ", expected " << +expected.data()[where]);
    CHECK(worst <= tolerance);
}

template <class A>
void check_equal(const A& actual, const std::vector<double>& expected) {
    check_close(actual, of<typename A::value_type>(actual.shape(), expected), 0);
}

template <class A, class B>
bool same_bits(const A& a_any, const B& b_any) {
    if (a_any.shape() != b_any.shape()) return false;
    const auto a = a_any.contiguous();
    const auto b = b_any.contiguous();
    return a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0;
}

template <class T>
struct Computed {
    ConstArray<T> value;
    std::vector<Array<T>> grads;
};

// f's value at `at`, a vector of arrays, and the gradients of all of them under `dy` (random if not given).
template <class T, class F, class Arrays = std::vector<ConstArray<T>>>
Computed<T> run(const F& f, const Arrays& at, ConstArray<T> dy = {}) {
    std::vector<Tensor<T>> in;
    for (const auto& a : at) in.emplace_back(a, true);
    const Tensor<T> y = f(in);
    if (!dy.defined()) dy = random_array<T>(y.shape(), 77);
    backward(y, dy);
    Computed<T> result{y.value(), {}};
    for (const auto& x : in) result.grads.push_back(x.grad());
    return result;
}

// Checks f's value at `in` and its gradients under dy against given vectors.
template <class T, class F>
inline void check_by_hand(const F& f, const std::vector<std::vector<double>>& in, const std::vector<double>& dy,
                          const std::vector<double>& y, const std::vector<std::vector<double>>& dx) {
    std::vector<Array<T>> at;
    for (const auto& values : in) at.push_back(of<T>(values));
    const auto result = run<T>(f, at, of<T>(dy));
    const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-14;
    check_close(result.value, of<T>(y), tolerance);
    for (std::size_t i = 0; i < dx.size(); ++i) check_close(result.grads[i], of<T>(dx[i]), tolerance, "gradient");
}

// The same for a function of one number, under a cotangent of ones.
template <class T, class F>
void check_points(const char* name, const F& f, const std::vector<double>& x, const std::vector<double>& y,
                  const std::vector<double>& slope) {
    INFO(name);
    check_by_hand<T>([&f](const auto& in) { return f(in[0]); }, {x}, std::vector<double>(x.size(), 1), y, {slope});
}

// Compares the float kernel with the double one, forward and backward, on the same random inputs.
template <class F>
void check_float_against_double(const F& f, const std::vector<Shape>& shapes) {
    std::vector<Array<float>> narrow;
    std::vector<Array<double>> wide;
    std::string text;
    for (const Shape& shape : shapes) {
        narrow.push_back(cast<float>(normal(shape, 41 + narrow.size()))), wide.push_back(cast<double>(narrow.back()));
        text += to_string(shape) + " ";
    }
    const auto a = run<float>(f, narrow);
    const auto b = run<double>(f, wide);
    check_close(a.value, b.value, 1e-5, "value at " + text);
    for (std::size_t i = 0; i < shapes.size(); ++i)
        check_close(a.grads[i], b.grads[i], 1e-5, "gradient " + std::to_string(i) + " at " + text);
}

// Sets the number of threads while in scope.
struct Threads {
    FixedThreads fixed;
    int before = omp_get_max_threads();
    explicit Threads(int count) { omp_set_num_threads(count); }
    ~Threads() { omp_set_num_threads(before); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
};

// Requires that f(), which returns a vector of arrays, gives the same bits with 1, 2, 3, 5, 7 and 8 threads.
template <class F>
void check_same_with_any_threads(const std::string& what, const F& f,
                                 std::initializer_list<int> counts = {2, 3, 5, 7, 8}) {
    const auto with = [&f](int threads) {
        const Threads scope(threads);
        return f();
    };
    const auto one = with(1);
    for (const int threads : counts) {
        const auto many = with(threads);
        for (std::size_t i = 0; i < one.size(); ++i) {
            INFO(what << ", result " << i << ", " << threads << " threads");
            CHECK(same_bits(one[i], many[i]));
        }
    }
}

// Value and gradients as one list, for check_same_with_any_threads.
template <class T>
std::vector<ConstArray<T>> all_of(const Computed<T>& result) {
    std::vector<ConstArray<T>> list(result.grads.begin(), result.grads.end());
    list.push_back(result.value);
    return list;
}

}  // namespace inkling::testing
