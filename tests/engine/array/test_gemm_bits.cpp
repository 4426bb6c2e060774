// Matrix products: what one has the same bits as, and what it writes.
#include "engine/array/gemm.h"

TEST_CASE("gemm: a few rows have the bits that they have among many, and nothing else is written", "[engine]") {
    const Array<float> a = random_array<float>({260, 300}, 1), b = random_array<float>({270, 300}, 2).transposed(0, 1),
                       bias = random_array<float>({270}, 3);
    for (const bool round : {false, true}) {
        Array<float> all({260, 270}), bare({260, 270});
        gemm(a, b, all, {.round = round}, bias), gemm(a, b, bare, {.round = round});
        for (const std::size_t n : {1, 2, 7, 16, 31, 50, 128, 129}) {
            INFO(n << " rows, round " << round);
            Array<float> wide({n, 280}, 0.25f), few = wide.sliced(1, 5, 275), without({n, 270});
            gemm(a.sliced(0, 3, 3 + n), b, few, {.round = round}, bias);
            gemm(a.sliced(0, 3, 3 + n), b, without, {.round = round});
            CHECK_ALL(same_bits(few, all.sliced(0, 3, 3 + n)), same_bits(without, bare.sliced(0, 3, 3 + n)));
            CHECK(same_bits(wide.sliced(1, 275, 280), Array<float>({n, 5}, 0.25f)));
        }
    }
    for (const std::size_t n : {3, 60}) {  // on one thread, and in blocks
        Array<float> wide({n, 2 * n + 3}, 0.25f), tall({2 * n, n}, 0.25f);
        const Array<float> x = random_array<float>({n, n}, 1), y = random_array<float>({n, n}, 2);
        Array<float> padded = wide.sliced(1, 1, n + 1), stepped = tall.sliced(0, 0, 2 * n, 2).transposed(0, 1),
                     dense({n, n});
        gemm(x, y, dense), gemm(x, y, padded), gemm(x, y, stepped);
        check_close(padded, dense, 1e-6), check_close(stepped, dense, 1e-6);
        CHECK(same_bits(wide.sliced(1, n + 1, 2 * n + 3), Array<float>({n, n + 2}, 0.25f)));
        CHECK(same_bits(wide.sliced(1, 0, 1), Array<float>({n, 1}, 0.25f)));
        CHECK(same_bits(tall.sliced(0, 1, 2 * n, 2), Array<float>({n, n}, 0.25f)));
    }
}

TEST_CASE("gemm: the same bits with any number of threads", "[engine][slow]") {
    struct Case {
        std::size_t m, n, k;
        bool transposed_a, transposed_b;
    };
    const std::vector<Case> cases = {
        {768, 384, 128, false, true},   {128, 384, 768, true, false},  {65, 128, 2048, true, false},
        {384, 1536, 2048, true, false}, {65, 384, 3000, true, false},  {384, 65, 768, false, true},
        {1, 384, 1536, false, true},    {1, 65, 5000, false, false},   {17, 33, 4097, false, false},
        {256, 256, 1024, false, true},  {512, 513, 1500, true, false}, {384, 500, 1500, false, false},
        {129, 65, 2100, false, true},   {3, 5, 400, false, true}};
    for (const Case& p : cases) {
        Array<float> a = random_array<float>(p.transposed_a ? Shape{p.k, p.m} : Shape{p.m, p.k}, 1);
        Array<float> b = random_array<float>(p.transposed_b ? Shape{p.n, p.k} : Shape{p.k, p.n}, 2);
        if (p.transposed_a) a = a.transposed(0, 1);
        if (p.transposed_b) b = b.transposed(0, 1);
        const auto products = [&] {
            Array<float> c({p.m, p.n}), sum({p.m, p.n}, 1.0f), rounded({p.m, p.n});
            gemm(a, b, c), gemm(a, b, sum, {.accumulate = true}), gemm(a, b, rounded, {.round = true});
            return std::vector{c, sum, rounded};
        };
        // With many threads the pieces are smaller, B is packed in pieces of K, and more of K at a time.
        check_same_with_any_threads(fmt::format("m {}, n {}, k {}", p.m, p.n, p.k), products, {2, 3, 7, 16, 61});
    }
    const Array<float> q = random_array<float>({6, 8, 128, 48}, 3), k = random_array<float>({6, 8, 128, 48}, 4);
    check_same_with_any_threads("a batch", [&] {
        Array<float> c({6, 8, 128, 128});
        gemm(q, k.transposed(-2, -1), c);
        return std::vector{c};
    });
    const Array<double> x = random_array<double>({67, 129}, 5), y = random_array<double>({129, 65}, 6);
    check_same_with_any_threads("double", [&] {
        Array<double> c({67, 65});
        gemm(x, y, c);
        return std::vector{c};
    });
}

TEST_CASE("gemm: a large product cut into pieces is still one product", "[engine][unsanitized]") {
    struct Case {
        std::size_t m, n, k;
    };
    const std::vector<Case> cases = {{9, 17, 1023}, {9, 17, 1024},   {9, 17, 1025},  {9, 17, 2048},    {9, 17, 2049},
                                     {9, 17, 5000}, {193, 400, 300}, {385, 97, 257}, {200, 385, 1030}, {1, 600, 1025}};
    for (const Case& p : cases)
        for (int layout = 0; layout < 8; ++layout) {  // which kernel, and so which pieces, depends on the layout
            INFO("m " << p.m << ", n " << p.n << ", k " << p.k << ", layout " << layout);
            const auto matrix = [](std::size_t rows, std::size_t columns, bool turned, std::size_t gap) {
                const Shape shape = turned ? Shape{columns, rows + gap} : Shape{rows, columns + gap};
                const Array<float> x = random_array<float>(shape, rows).sliced(1, gap, shape[1]);
                return turned ? x.transposed(0, 1) : x;
            };
            const Array<float> a = matrix(p.m, p.k, layout & 1, 0), b = matrix(p.k, p.n, layout & 2, layout & 4);
            const Array<float> bias = random_array<float>({p.n}, 3);
            Array<double> expected = cast<double>(random_array<float>({p.m, p.n}, 4));
            Array<float> c = cast<float>(expected);
            plain_product(cast<double>(a), cast<double>(b), expected, true, cast<double>(bias));
            gemm(a, b, c, {.accumulate = true}, bias);  // bias and the old value once, not once a piece
            check_close(c, expected, 1e-5);
        }
}
