//   einsum   y[result] = sum over the other letters of prod_i x_i[letters of operand i]
// Made of permute, reshape, slice, sum, mul and matmul, whose gradients are its own. A product of two operands: letters
// of both that are needed later are its batch, letters of both that are not are contracted, the others are rows and
// columns:
//   (batch, rows, contracted) x (batch, contracted, columns)
// Longer than other ops, since it has to read the equation and to say what is wrong with it.
#include "engine/ops/einsum.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/ops/elementwise.h"
#include "engine/ops/matmul.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace inkling {
namespace {

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

struct Equation {
    std::vector<std::string> operands;
    std::string result;
};

Equation parse(std::string_view text, std::size_t count) {
    std::string spec(text);
    std::erase(spec, ' ');
    const std::size_t arrow = spec.find("->");
    Equation e{{""}, arrow == std::string::npos ? "" : spec.substr(arrow + 2)};
    for (const char c : spec.substr(0, arrow)) {
        if (c == ',') {
            e.operands.emplace_back();
        } else {
            e.operands.back() += c;
        }
    }
    std::string all;
    for (const std::string& letters : e.operands) all += letters;
    for (const char c : all + e.result) {
        check((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'),
              "einsum: a letter for each axis is required, as in \"ij,jk->ik\", got '{}' in \"{}\"", c, text);
    }
    check(e.operands.size() == count, "einsum: \"{}\" has {} operands, got {} tensors", text, e.operands.size(), count);
    if (arrow == std::string::npos) {
        std::sort(all.begin(), all.end());
        for (const char c : all) {
            if (std::count(all.begin(), all.end(), c) == 1) e.result += c;
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
    std::string letters;  // of its axes

    // The axes in the order of `order`, which holds the same letters.
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
    // Of an axis that is named twice the diagonal: every (n + 1)-th element of both as one. Then the sum over what is
    // not needed.
    void reduce(const std::string& needed) {
        for (std::size_t i = 0; i < letters.size(); ++i) {
            for (std::size_t j = letters.find(letters[i], i + 1); j != std::string::npos;
                 j = letters.find(letters[i], i + 1)) {
                const auto n = x.shape()[i];
                Shape order, shape;
                for (std::size_t axis = 0; axis < letters.size(); ++axis) {
                    if (axis != i && axis != j) order.push_back(axis), shape.push_back(x.shape()[axis]);
                }
                order.push_back(i), order.push_back(j), shape.push_back(n * n);
                x = slice(reshape(permute(x, order), shape), -1, 0, n * n, n + 1);
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
    const Equation e = parse(equation, operands.size());
    std::map<char, std::size_t> sizes;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Shape& shape = operands[i].shape();
        check(shape.size() == e.operands[i].size(), "einsum: operand {} of \"{}\" must have {} axes, got shape {}", i,
              equation, e.operands[i].size(), shape);
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const char c = e.operands[i][axis];
            const std::size_t size = sizes.emplace(c, shape[axis]).first->second;
            check(size == shape[axis], "einsum: '{}' must have one size in \"{}\", got {} and {} in operand {}, {}", c,
                  equation, size, shape[axis], i, shape);
        }
    }
    Term<T> y;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        std::string later = e.result;  // the letters that are needed after this product
        for (std::size_t j = i + 1; j < operands.size(); ++j) later += e.operands[j];
        Term<T> x{operands[i], e.operands[i]};
        x.reduce(later + y.letters);
        y = i == 0 ? x : product(y, x, later);
    }
    return y.permuted(e.result);
}

template Tensor<float> einsum(std::string_view, const std::vector<Tensor<float>>&);
template Tensor<double> einsum(std::string_view, const std::vector<Tensor<double>>&);

}  // namespace inkling
