// einsum against loops over all letters, known values, and errors.
#include "engine/more/einsum.h"

// The definition: for all values of all letters, adds the product of the elements to the result's element.
static Array<double> by_loops(const std::vector<std::string>& operands, const std::string& result,
                              const std::vector<Array<double>>& at) {
    std::string letters;
    std::vector<std::size_t> sizes;
    for (std::size_t k = 0; k < operands.size(); ++k)
        for (std::size_t i = 0; i < operands[k].size(); ++i) {
            if (letters.find(operands[k][i]) != std::string::npos) continue;
            letters += operands[k][i];
            sizes.push_back(at[k].shape()[i]);
        }
    const auto size_of_letter = [&](char c) { return sizes[letters.find(c)]; };
    Shape shape;
    for (const char c : result) shape.push_back(size_of_letter(c));
    Array<double> y(shape, 0.0);
    std::vector<std::size_t> value(letters.size(), 0);
    const auto place = [&](const std::string& axes) {
        std::size_t at_place = 0;
        for (const char c : axes) at_place = at_place * size_of_letter(c) + value[letters.find(c)];
        return at_place;
    };
    std::size_t all = 1;
    for (const std::size_t n : sizes) all *= n;
    for (std::size_t i = 0; i < all; ++i) {
        std::size_t rest = i;
        for (std::size_t l = 0; l < letters.size(); ++l) value[l] = rest % sizes[l], rest /= sizes[l];
        double term = 1;
        for (std::size_t k = 0; k < at.size(); ++k) term *= at[k].data()[place(operands[k])];
        y.data()[place(result)] += term;
    }
    return y;
}

TEMPLATE_TEST_CASE("einsum: without an arrow, letters that occur once, in order", "[engine]", float, double) {
    const Tensor<T> x(of<T>({2, 3}, {1, 2, 3, 4, 5, 6}), true), y(of<T>({3}, {1, 10, 100}), true);
    check_equal(einsum("ba", x).value(), {1, 4, 2, 5, 3, 6}), check_equal(einsum("ij, j", x, y).value(), {321, 654});
    check_equal(einsum("ij->", x).value(), {21});
    check_equal(einsum("a,b", Tensor<T>(of<T>({2, 3})), y).value(), {2, 20, 200, 3, 30, 300});
    backward(einsum("ij,j->i", x, y), of<T>({1, 2}));
    check_equal(x.grad(), {1, 10, 100, 2, 20, 200}), check_equal(y.grad(), {9, 12, 15});
    CHECK(einsum("ij,jk", Tensor<T>(Array<T>({0, 3})), Tensor<T>(Array<T>({3, 2}, T{1}))).shape() == Shape{0, 2});
    check_equal(einsum("ij,jk", Tensor<T>(Array<T>({1, 0})), Tensor<T>(Array<T>({0, 2}))).value(), {0, 0});
}

// Compares with a letter for each axis, on operands copied along their broadcast axes.
TEST_CASE("einsum: it is the sum by loops over all letters, and an ellipsis and axes of size 1 broadcast", "[engine]") {
    for (const json& row : json_in(tests_path("engine/more/einsum.json"))) {
        // the equation, the operands, the letters of the whole operands and of the result, the sizes of a, b, c, d
        INFO(row);
        const auto shapes = row[1].get<std::vector<std::vector<std::size_t>>>();
        const auto letters = row[2].get<std::vector<std::string>>();
        const auto sizes = row[4].get<std::vector<std::size_t>>();
        std::vector<Array<double>> whole;
        std::vector<Tensor<double>> in;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            Shape shape;
            for (const char letter : letters[i]) shape.push_back(sizes[static_cast<std::size_t>(letter - 'a')]);
            in.emplace_back(normal(Shape(shapes[i].begin(), shapes[i].end()), 1 + i), true);
            whole.push_back(in.back().value().broadcasted(shape).clone());
        }
        const Tensor<double> y = einsum(row[0].get<std::string>(), in);
        check_close(y.value(), by_loops(letters, row[3], whole), 1e-13);
        backward(sum(y));
        for (const auto& x : in) CHECK(x.grad().shape() == x.shape());
    }
}

TEST_CASE("einsum: invalid equations and mismatched operands are refused by name", "[engine]") {
    const Tensor<double> a(Array<double>({2, 3}, 1.0)), b(Array<double>({4, 5}, 1.0));
    CHECK_THROWS_WITH(einsum("ij,jk", a, b),
                      contains("einsum: 'j' must have one size", "3 and 4 in operand 1, (4, 5)"));
    CHECK_THROWS_WITH(einsum("ijk", a), contains("operand 0", "3 axes, got shape (2, 3)"));
    CHECK_THROWS_WITH(einsum("ij,jk", a), contains("has 2 operands, got 1 tensors"));
    CHECK_THROWS_WITH(einsum("ij->k", a), contains("letter of the result", "'k'"));
    CHECK_THROWS_WITH(einsum("ij->i1", a), contains("expected a letter for each axis", "got '1'"));
    CHECK_THROWS_WITH(einsum("ij->ii", a), contains("named once, got 'i'"));
    CHECK_THROWS_WITH(einsum("..j->j", a), contains("dots must be an ellipsis"));
    CHECK_THROWS_WITH(einsum("...i...->", a), contains("one ellipsis at most"));
    CHECK_THROWS_WITH(einsum("...ijk", a), contains("at least 3 axes, got shape (2, 3)"));
    CHECK_THROWS_WITH(einsum("...,...", a, b), contains("\"...\" must have one size, or 1"));
    CHECK_THROWS_WITH(einsum("ii", Tensor<double>(Array<double>({1, 3}))), contains("'i' must have one size"));
    CHECK_THROWS_WITH(einsum("ij->i->j", a), contains("got '-'"));
    CHECK_THROWS_AS(einsum("", std::vector<Tensor<double>>{}), Error);
}
