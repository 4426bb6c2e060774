//   einsum   y[result] = sum over the other letters of prod_i x_i[letters of operand i]
// Composed of permute, reshape, diagonal, sum, mul and matmul, which supply the gradients. In a product of two
// operands, shared letters that are needed later are the batch, other shared letters are contracted, and the remaining
// letters are rows and columns:
//   (batch, rows, contracted) x (batch, contracted, columns)
// It is longer than other ops, because it must parse the equation and report its errors.
#include "engine/more/einsum.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/more/composed.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/matrix/matmul.h"
#include "engine/ops/reduce/reduce.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

struct Equation {
    std::vector<std::string> operands;
    std::string result;
};

// The axes of an ellipsis get letters that no equation can name: '0', '1', ... for the broadcast axes from the left, so
// that they come first if the result's letters are in alphabetical order.
std::string letters_of_ellipsis(std::size_t begin, std::size_t end) {
    std::string letters;
    for (std::size_t i = begin; i < end; ++i) letters += static_cast<char>('0' + i);
    return letters;
}

Equation parse(std::string_view text, const std::vector<Shape>& shapes) {
    std::string spec(text);
    std::erase(spec, ' ');
    for (std::size_t dots = spec.find('.'); dots != spec.npos; dots = spec.find('.', dots + 1)) {
        check(spec.compare(dots, 3, "...") == 0, "einsum: dots must be an ellipsis, \"...\", got \"{}\"", text);
        spec.erase(dots, 2);  // one dot represents the ellipsis
    }
    const std::size_t arrow = spec.find("->");
    Equation e{{""}, arrow == std::string::npos ? "" : spec.substr(arrow + 2)};
    for (const char c : spec.substr(0, arrow)) {
        if (c == ',') {
            e.operands.emplace_back();
        } else {
            e.operands.back() += c;
        }
    }
    const auto check_letters = [&](const std::string& letters) {
        for (const char c : letters) {
            check((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.',
                  "einsum: expected a letter for each axis, as in \"ij,jk->ik\", got '{}' in \"{}\"", c, text);
        }
        check(std::count(letters.begin(), letters.end(), '.') <= 1,
              "einsum: one ellipsis at most is possible in an operand or the result, got \"{}\"", text);
    };
    for (const std::string& letters : e.operands) check_letters(letters);
    check_letters(e.result);
    const std::size_t count = shapes.size();
    check(e.operands.size() == count, "einsum: \"{}\" has {} operands, got {} tensors", text, e.operands.size(), count);
    std::size_t broadcast = 0;  // axes of the longest ellipsis
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t named = e.operands[i].size() - has(e.operands[i], '.');
        const bool fits = has(e.operands[i], '.') ? shapes[i].size() >= named : shapes[i].size() == named;
        check(fits, "einsum: operand {} of \"{}\" must have {}{} axes, got shape {}", i, text,
              has(e.operands[i], '.') ? "at least " : "", named, shapes[i]);
        broadcast = std::max(broadcast, shapes[i].size() - named);
    }
    const auto expand = [&](std::string& letters, std::size_t axes) {
        if (const std::size_t dot = letters.find('.'); dot != letters.npos)
            letters.replace(dot, 1, letters_of_ellipsis(broadcast - axes, broadcast));
    };
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        expand(e.operands[i], shapes[i].size() + 1 - e.operands[i].size());
        all += e.operands[i];
    }
    expand(e.result, broadcast);
    if (arrow == std::string::npos) {
        e.result = letters_of_ellipsis(0, broadcast);
        std::sort(all.begin(), all.end());
        for (const char c : all) {
            if (c >= 'A' && std::count(all.begin(), all.end(), c) == 1) e.result += c;
        }
    }
    for (const char c : e.result) {
        check(has(all, c) && std::count(e.result.begin(), e.result.end(), c) == 1,
              "einsum: a letter of the result must be in an operand, and be named once, got '{}' in \"{}\"", c, text);
    }
    return e;
}

template <class T>
struct Term {
    Tensor<T> x;
    std::string letters;  // one per axis

    // Permutes the axes to `order`, which holds the same letters.
    Tensor<T> permuted(const std::string& order) const {
        Shape axes;
        for (const char c : order) axes.push_back(letters.find(c));
        return permute(x, axes);
    }
    Shape sizes(const std::string& some) const {
        Shape shape;
        for (const char c : some) shape.push_back(x.shape()[letters.find(c)]);
        return shape;
    }
    // Takes the diagonal of an axis that is named twice. Then sums over letters that are not needed.
    void reduce(const std::string& needed) {
        for (std::size_t i = 0; i < letters.size(); ++i) {
            for (std::size_t j = letters.find(letters[i], i + 1); j != std::string::npos;
                 j = letters.find(letters[i], i + 1)) {
                x = diagonal(x, 0, static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j));
                const char c = letters[i];
                letters.erase(j, 1), letters.erase(i, 1), letters += c;
                i = 0;
            }
        }
        Axes gone;
        for (std::size_t i = 0; i < letters.size(); ++i) {
            if (!has(needed, letters[i])) gone.push_back(static_cast<std::ptrdiff_t>(i));
        }
        if (gone.empty()) return;
        x = sum(x, gone);
        std::erase_if(letters, [&](char c) { return !has(needed, c); });
    }
};

template <class T>
Term<T> product(const Term<T>& a, const Term<T>& b, const std::string& needed) {
    std::string batch, contracted, rows, columns;
    for (const char c : a.letters) (!has(b.letters, c) ? rows : has(needed, c) ? batch : contracted) += c;
    for (const char c : b.letters) {
        if (!has(a.letters, c)) columns += c;
    }
    const Shape sb = a.sizes(batch), sm = a.sizes(rows), sn = b.sizes(columns);
    const std::size_t B = size_of(sb), M = size_of(sm), N = size_of(sn), K = size_of(a.sizes(contracted));
    const Tensor<T> u = reshape(a.permuted(batch + rows + contracted), {B, M, K});
    const Tensor<T> v = reshape(b.permuted(batch + contracted + columns), {B, K, N});
    Shape shape = sb;
    for (const Shape& part : {sm, sn}) {
        for (const std::size_t size : part) shape.push_back(size);
    }
    if (contracted.empty()) return {reshape(mul(reshape(u, {B, M, 1}), v), shape), batch + rows + columns};  // K = 1
    const Tensor<T> y = B == 1 ? matmul(reshape(u, {M, K}), reshape(v, {K, N})) : matmul(u, v);
    return {reshape(y, shape), batch + rows + columns};
}

}  // namespace

template <class T>
Tensor<T> einsum(std::string_view equation, const std::vector<Tensor<T>>& operands) {
    for (const auto& x : operands) check_defined("einsum", x);
    std::vector<Shape> shapes;
    for (const auto& x : operands) shapes.push_back(x.shape());
    Equation e = parse(equation, shapes);
    std::map<char, std::size_t> sizes;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        std::map<char, std::size_t> own;  // the axes of a diagonal must have equal sizes
        for (std::size_t axis = 0; axis < shapes[i].size(); ++axis) {
            const char c = e.operands[i][axis];
            const std::size_t n = shapes[i][axis];
            std::size_t& size = sizes.emplace(c, n).first->second;
            check((n == size || n == 1 || size == 1) && own.emplace(c, n).first->second == n,
                  "einsum: {} must have one size, or 1, in \"{}\", got {} and {} in operand {}, {}",
                  c < 'A' ? "\"...\"" : std::string{'\'', c, '\''}, equation, size, n, i, shapes[i]);
            if (size == 1) size = n;
        }
    }
    // An operand with size 1 along a letter that is larger elsewhere does not depend on it: the axis is dropped.
    std::vector<Tensor<T>> xs = operands;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        Axes ones;
        std::string kept;
        for (std::size_t axis = 0; axis < shapes[i].size(); ++axis) {
            const char c = e.operands[i][axis];
            if (shapes[i][axis] == 1 && sizes[c] != 1) {
                ones.push_back(static_cast<std::ptrdiff_t>(axis));
            } else {
                kept += c;
            }
        }
        if (!ones.empty()) xs[i] = squeeze(xs[i], ones);
        e.operands[i] = kept;
    }
    Term<T> y;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        std::string later = e.result;  // the letters that are needed after this product
        for (std::size_t j = i + 1; j < operands.size(); ++j) later += e.operands[j];
        Term<T> x{xs[i], e.operands[i]};
        x.reduce(later + y.letters);
        y = i == 0 ? x : product(y, x, later);
    }
    return y.permuted(e.result);
}

template Tensor<float> einsum(std::string_view, const std::vector<Tensor<float>>&);
template Tensor<double> einsum(std::string_view, const std::vector<Tensor<double>>&);

}  // namespace inkling
