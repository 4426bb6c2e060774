// Array: shapes, views over one buffer, copies, counted writes, and use in xtensor expressions.
#include "engine/array/array.h"

#include <xtensor/xview.hpp>

#include "engine/process/memory.h"
#include "nn/linear.h"

// A random shape with n elements.
static Shape random_factors(std::size_t n, std::uint64_t seed) {
    Shape shape;
    for (std::uint64_t i = 0; n > 1 || i < 2; ++i) {
        std::size_t d = i + 1 == Shape::kMaxRank ? n : 1 + random_below({seed, 1}, i, n);
        while (n % d != 0) --d;
        shape.push_back(d);
        n /= d;
    }
    return shape;
}

TEST_CASE("array: shapes know their size and print as in Python, and have sizes that can be", "[engine]") {
    CHECK_ALL(size_of({}) == 1, size_of({2, 3, 4}) == 24, size_of({2, 0, 4}) == 0, to_string(Shape{}) == "()");
    CHECK_ALL(to_string({5}) == "(5,)", to_string({2, 3}) == "(2, 3)", fmt::format("{}", Shape{2, 3}) == "(2, 3)");
    CHECK_THROWS_WITH(size_of({std::size_t{1} << 40, std::size_t{1} << 40}), contains("too large"));
    CHECK(normalize_axis("op", 0, 3) == 0);  // axes count from either end
    CHECK_ALL(normalize_axis("op", -1, 3) == 2, normalize_axis("op", -3, 3) == 0, counting({2, 5}).dim(-1) == 5);
    CHECK_THROWS_WITH(normalize_axis("softmax", 3, 3), contains("softmax: axis 3 must be between -3 and 2"));
    CHECK_THROWS_WITH(normalize_axis("softmax", -4, 3), contains("axis -4"));
    CHECK_THROWS_AS(normalize_axis("softmax", 3, 3), AxisError);
    CHECK_THROWS_AS(normalize_axis("softmax", 0, 0), AxisError);
    constexpr std::size_t one = 1, minus = static_cast<std::size_t>(-1);
    const Shape large[] = {{(one << 62) + 1}, {one << 31, one << 31}, {one << 32, one << 32},
                           {one << 62, 4},    {0, one << 62, 4},      {one << 62, 4, 0}};
    for (const Shape& shape : large) {
        INFO(to_string(shape));
        CHECK_THROWS_WITH(Array<float>(shape), contains("is too large"));
        CHECK_THROWS_WITH(Array<double>(shape, 0.0), contains("is too large"));
        CHECK_THROWS_WITH(Tensor<float>::zeros(shape), contains("is too large"));
        CHECK_THROWS_WITH(reshape(Tensor<float>(Array<float>({2}, 0.0f)), OpenShape(shape)),
                          contains("too large") || contains("must stay 2"));
    }
    CHECK_THROWS_AS(Array<float>({one << 57}), OutOfMemory);
    CHECK_THROWS_WITH(size_of({minus}), contains("sizes of at least 0, got shape (-1,)"));
    CHECK_THROWS_WITH(Array<float>({0, minus}), contains("got shape (0, -1)"));
    Generator random{1, 0};
    CHECK_THROWS_WITH(nn::Linear<float>(random, one << 31, one << 31), contains("is too large"));
    CHECK(Array<float>({0, one << 62}).size() == 0);
}

TEST_CASE("array: shapes have room for 16 axes, copies share the elements, clones do not", "[engine]") {
    Shape shape{1, 2, 3};
    shape.insert(shape.begin() + 1, 7);
    CHECK(shape == Shape{1, 7, 2, 3});
    shape.insert(shape.end(), 4);
    CHECK(shape == Shape{1, 7, 2, 3, 4});
    shape.pop_back();
    shape.resize(6, 5);
    CHECK(shape == Shape{1, 7, 2, 3, 5, 5});
    CHECK_FALSE(shape == Shape{1, 7, 2, 3, 5});
    Shape sizes(16, 1);
    sizes[0] = 3, sizes[15] = 2;
    const Array<double> most(sizes, 1.0);
    CHECK(most.size() == 6);
    sizes[7] = 5;
    CHECK(most.broadcasted(sizes).size() == 30);
    CHECK_THROWS_WITH(most.broadcasted(Shape(17, 1)), contains("at most 16 axes"));
    CHECK_THROWS_WITH(most.reshaped(Shape(17, 1)), contains("at most 16 axes"));
    CHECK_THROWS_WITH(Shape(17, 1), contains("at most 16 axes are possible, got 17"));
    CHECK_FALSE(Array<float>().defined());
    CHECK_ALL(Array<float>().version() == 0, Array<float>(Shape{}).defined(), Array<float>({0, 3}).defined());
    CHECK(Array<float>({0, 3}).size() == 0);
    check_equal(Array<double>({2, 2}, 1.5), {1.5, 1.5, 1.5, 1.5});
    Array<double> a = counting({3});
    Array<double> copy = a, clone = a.clone();
    a.data()[0] = 9;
    CHECK_ALL(copy.data()[0] == 9, clone.data()[0] == 0, copy.same_buffer(a), !clone.same_buffer(a), a.shares_buffer());
    CHECK_FALSE(clone.shares_buffer());
}

TEST_CASE("array: views copy nothing, and contiguous means row-major without gaps", "[engine]") {
    const Array<double> a = counting({2, 3});
    check_equal(a.permuted({1, 0}), {0, 3, 1, 4, 2, 5}), check_equal(a.transposed(-1, 0), {0, 3, 1, 4, 2, 5});
    check_equal(a.sliced(1, 1, 3), {1, 2, 4, 5}), check_equal(a.sliced(-1, 0, 3, 2), {0, 2, 3, 5});
    check_equal(a.sliced(0, 1, 1), {});
    check_equal(a.sliced(0, 1, 2).broadcasted({2, 2, 3}), {3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5});
    const Array<double> cube = counting({2, 3, 4});
    CHECK(cube.permuted({2, 0, 1})(3, 1, 2) == cube(1, 2, 3));
    for (const ConstArray<double>& view : std::vector<ConstArray<double>>{
             a.permuted({1, 0}), a.sliced(1, 0, 2), a.broadcasted({4, 2, 3}), a.reshaped({3, 2}), a.contiguous()})
        CHECK(view.same_buffer(a));
    Array<double> view = a.sliced(1, 2, 3).transposed(0, 1);
    view.data()[0] = -7;
    CHECK(a(0, 2) == -7);
    const Array<double> dense = counting({2, 3, 1});
    CHECK_ALL(dense.is_contiguous(), dense.sliced(0, 1, 2).is_contiguous());
    CHECK(dense.permuted({2, 0, 1}).is_contiguous());  // only an axis of size 1 moved
    CHECK_ALL(!dense.permuted({1, 0, 2}).is_contiguous(), !dense.sliced(1, 0, 2).is_contiguous());
    CHECK_ALL(!dense.broadcasted({2, 3, 2}).is_contiguous(),
              !dense.permuted({1, 0, 2}).contiguous().same_buffer(dense));
    check_equal(dense.permuted({1, 0, 2}).contiguous(), {0, 3, 1, 4, 2, 5});
    CHECK(counting({3, 0}).transposed(0, 1).is_contiguous());
}

TEST_CASE("array: reshape is a view where strides allow it, and always reads in row-major order", "[engine]") {
    const Array<double> a = counting({2, 3, 4});
    CHECK(a.reshaped({4, 6}).same_buffer(a));
    CHECK(a.permuted({2, 0, 1}).reshaped({4, 6}).same_buffer(a));       // merges what lies evenly
    CHECK(a.sliced(2, 1, 3).reshaped({6, 2}).same_buffer(a));           // rows with a gap
    CHECK(a.sliced(2, 0, 4, 2).reshaped({2, 3, 2, 1}).same_buffer(a));  // a step inside a row
    CHECK_ALL(!a.permuted({1, 0, 2}).reshaped({24}).same_buffer(a), !a.sliced(2, 1, 3).reshaped({12}).same_buffer(a));
    check_equal(a.sliced(2, 1, 3).reshaped({12}), {1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22});
    check_equal(of<double>(Shape{}, {5}).reshaped({1, 1}), {5});
    CHECK_THROWS_WITH(a.reshaped({5, 5}), contains("reshape", "(5, 5)", "(2, 3, 4)"));
    const Array<double> empty({3, 0});  // empty arrays can be viewed, reshaped and copied
    CHECK(empty.transposed(0, 1).reshaped({3, 0}).size() == 0);
    CHECK(empty.transposed(0, 1).reshaped({0, 7}).shape() == Shape{0, 7});
    CHECK(Array<double>({2, 0, 3}).permuted({2, 1, 0}).reshaped({0}).shape() == Shape{0});
    CHECK(empty.sliced(0, 1, 2).clone().shape() == Shape{1, 0});
    CHECK(Array<double>({1, 3}).broadcasted({0, 3}).clone().size() == 0);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const Array<double> base = counting(random_factors(std::size_t{48} << (seed % 3), seed));
        Array<double> view = base;
        if (seed % 2) view = view.transposed(0, -1);
        if (seed % 3 == 1) view = view.transposed(0, 1);
        if (seed % 5 == 2 && view.dim(-1) % 2 == 0) view = view.sliced(-1, 0, view.dim(-1), 2);
        if (seed % 7 == 3) view = view.sliced(0, view.dim(0) / 2, view.dim(0));
        const Shape shape = random_factors(view.size(), seed + 1000);
        INFO(to_string(base.shape()) << " as " << to_string(view.shape()) << " to " << to_string(shape));
        REQUIRE(same_bits(view.reshaped(shape), view.clone().reshaped(shape)));
    }
}

TEST_CASE("array: a mismatched shape is refused, naming both shapes", "[engine]") {
    const Array<double> a = counting({2, 3});
    CHECK_THROWS_WITH(a.permuted({0}), contains("permute", "(2, 3)"));
    CHECK_THROWS_WITH(a.permuted({0, 0}), contains("(0, 0)"));
    CHECK_THROWS_WITH(a.permuted({0, 2}), contains("(0, 2)"));
    CHECK_THROWS_WITH(a.transposed(0, 2), contains("transpose: axis 2"));
    CHECK_THROWS_WITH(a.sliced(1, 2, 4), contains("slice", "[2, 4)"));
    CHECK_THROWS_AS(a.sliced(1, 2, 1), Error);
    CHECK_THROWS_AS(a.sliced(1, 0, 1, 0), Error);
    CHECK_THROWS_WITH(a.broadcasted({3, 3}), contains("(2, 3)", "(3, 3)"));
    CHECK_THROWS_AS(a.broadcasted({3}), Error);
}

template <class To, class From>
concept Assignable = requires(To to, From from) {
    to = from;
};
template <class A, class B>
concept AddsTo = requires(A& a, const B& b) {
    a += b;
};

TEST_CASE("array: it is an xtensor expression", "[engine]") {
    const Array<double> a = xt::xarray<double>{{1, 2, 3}, {4, 5, 6}}, t = a.transposed(0, 1), b = 2.0 * a + 1.0;
    check_equal(b, {3, 5, 7, 9, 11, 13});
    const Array<double> c = t * t;  // strided
    check_equal(c, {1, 16, 4, 25, 9, 36});
    Array<double> d;
    d = xt::view(a, xt::all(), 1);
    check_equal(d, {2, 5});
    CHECK(d.shape() == Shape{2});
    d = d + d;  // reads what it replaces
    check_equal(d, {4, 10}), check_equal(a, {1, 2, 3, 4, 5, 6});
    Array<double> e = a.clone();
    xt::view(e, xt::all(), 1) = 0.0;
    check_equal(e, {1, 0, 3, 4, 0, 6});
    e = xt::transpose(a);
    check_equal(e, {1, 4, 2, 5, 3, 6});
}

TEST_CASE("dims: a copy reads no number that was never set", "[engine]") {
    alignas(Shape) unsigned char memory[sizeof(Shape)];
    for (const std::size_t rank : {0, 1, 2, 5, 16}) {
        std::fill_n(memory, sizeof memory, static_cast<unsigned char>(0xAB));
        asm volatile("" : : "r"(memory) : "memory");
        const Shape* const shape = new (memory) Shape(rank, 7);
        asm volatile("" : : "r"(memory) : "memory");
        const Shape copy = *shape;
        for (std::size_t i = rank; i < 4; ++i) CHECK(copy.data()[i] == 0);  // what the fast copy reads
        CHECK(copy == Shape(rank, 7));
    }
    Shape long_one(5, 1), short_one{2, 3};
    long_one = short_one;
    short_one = Shape(16, 9);
    CHECK(long_one == Shape{2, 3});
    CHECK(short_one == Shape(16, 9));
}
