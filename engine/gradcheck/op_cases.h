// The table of op cases, for checks that hold for every op: `inkling gradcheck`, the tests of NaNs, undefined tensors,
// anomalies and new memory (tests/engine/ops/test_every_op.cpp), and the comparison with PyTorch (test_reference.cpp).
// A row names an op and its parameters, lists input shapes, and holds a function of the inputs:
//   all.add("linear", {"3x4 17x4 17 | 4 3x4 3", Nan::products}, [](V x, V w, V bias) { return linear(x, w, bias); });
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

// The range of the inputs.
enum class Domain {
    nonzero,        // normal numbers, at least 0.1 from 0, where relu has its kink
    positive,       // at least 0.5
    positive_first  // the first input is positive, the others are nonzero
};

// How far a NaN in an input spreads.
enum class Nan {
    alone,      // only to elements that depend on it
    gradients,  // the same in the value, but any element's gradient may become NaN: a row with a NaN has no maximum
    products    // also through a weight of 0, as in PyTorch: 0 NaN is NaN
};

// The inputs of a row. "2x3 3 | () 5x1" are two lists of shapes, (2, 3) with (3), and () with (5, 1). Gradcheck
// uses all lists; tests that change each element in turn use the first.
struct CaseInputs {
    CaseInputs(const std::string& text, Domain numbers = Domain::nonzero, Nan spread = Nan::alone);
    CaseInputs(const char* text) : CaseInputs(std::string(text)) {}  // NOLINT: implicit on purpose
    CaseInputs(const std::string& text, Nan spread) : CaseInputs(text, Domain::nonzero, spread) {}

    std::vector<std::vector<Shape>> shapes;
    Domain domain;
    Nan nan;
    std::vector<Array<double>> at(std::size_t list) const;  // numbers that float holds exactly
};

template <class T>
struct OpCase {
    using In = std::vector<Tensor<T>>;

    template <class F>  // f takes one to three tensors, or a vector of tensors
    OpCase(std::string row_name, CaseInputs in, F f) : name(std::move(row_name)), inputs(std::move(in)) {
        using V = const Tensor<T>&;
        if constexpr (std::is_invocable_v<F, V>)
            function = [f](const In& x) { return f(x[0]); };
        else if constexpr (std::is_invocable_v<F, V, V>)
            function = [f](const In& x) { return f(x[0], x[1]); };
        else if constexpr (std::is_invocable_v<F, V, V, V>)
            function = [f](const In& x) { return f(x[0], x[1], x[2]); };
        else
            function = f;
    }
    std::string op() const { return name.substr(0, name.find_first_of(" ,")); }

    std::string name;  // "sum 0 keep": the op, and the row's difference from the op's other rows
    CaseInputs inputs;
    std::function<Tensor<T>(const In&)> function;
};

// All rows, of float or double.
template <class T>
std::vector<OpCase<T>> op_cases();

// The largest relative error of a row's gradients: at all its shapes, with views of the inputs in three layouts, and
// with one tensor as every input if the shapes are equal.
double gradient_error(const OpCase<double>& row);

// The same for gradients of gradients, at the first shapes.
double second_gradient_error(const OpCase<double>& row);

template <class T>
struct OpCases : std::vector<OpCase<T>> {
    template <class F>
    void add(std::string name, CaseInputs inputs, F f) {
        this->emplace_back(std::move(name), std::move(inputs), std::move(f));
    }
};
template <class T>
OpCases<T> elementwise_cases();
template <class T>
OpCases<T> row_cases();
template <class T>
OpCases<T> shape_cases();
template <class T>
OpCases<T> product_cases();
template <class T>
OpCases<T> composed_cases();

// i^2 + 3 i modulo `below`, which tests/reference/make_engine_reference.py computes too.
IdArray some_ids(const Shape& shape, std::size_t below);
// Every third element is true.
MaskArray some_mask(const Shape& shape);

}  // namespace inkling
