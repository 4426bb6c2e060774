// Tensor<T>: a value and, if a gradient is wanted, the node of the graph that computed it.
//   auto w = Tensor<double>::from({1, 2, 3}, true);   // a leaf whose gradient is wanted
//   Tensor<double> y = sum(2 * w * w + 1);            // engine/ops.h
//   y.backward();                                     // w.grad() is 4 w
//   std::cout << y;                                   // shape, op and values
// Copies share value and node. A node does not hold the value: the op saves what its backward needs, so any other
// intermediate returns to the pool with its last handle.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <utility>
#include <vector>

#include "engine/array/array.h"
#include "engine/autograd/node.h"
#include "engine/base/function_ref.h"
#include "engine/base/scoped_value.h"

namespace inkling {

struct RandomKey;

enum class Graph { release, keep };  // the graph after backward

// Numbers in nested braces, {{1, 2}, {3, 4}}, or a single number.
template <class T>
class Nested {
  public:
    Nested(T number) : values{number} {}             // NOLINT: implicit on purpose
    Nested(std::initializer_list<Nested<T>> parts);  // of equal shapes

    Shape shape;
    std::vector<T> values;
};

template <class T>
class Tensor {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "Tensor<T>: T is float or double; token ids are an IdArray, and masks a MaskArray");

  public:
    using value_type = T;

    Tensor();
    explicit Tensor(ConstArray<T> value, bool requires_grad = false);
    Tensor(ConstArray<T> value, NodePtr<T> node);
    Tensor(const Tensor&);
    Tensor(Tensor&&) noexcept;
    ~Tensor();
    Tensor& operator=(const Tensor&);
    Tensor& operator=(Tensor&&) noexcept;

    // These make leaves. `requires_grad` asks for a gradient.
    static Tensor from(const Nested<T>& values,
                       bool requires_grad = false);  // from({{1, 2}, {3, 4}}) has shape (2, 2)
    static Tensor from(const std::vector<T>& values, const Shape& shape, bool requires_grad = false);  // row by row
    static Tensor full(const Shape& shape, T value, bool requires_grad = false);
    static Tensor zeros(const Shape& shape, bool requires_grad = false) { return full(shape, T{0}, requires_grad); }
    static Tensor ones(const Shape& shape, bool requires_grad = false) { return full(shape, T{1}, requires_grad); }
    static Tensor arange(double end) { return arange(0, end); }
    static Tensor arange(double begin, double end, double step = 1);  // begin, begin + step, ... before end
    // Random numbers of one key (engine/base/random.h), such as random.next() of a Generator: normal, or uniform in [0,
    // 1).
    static Tensor randn(const Shape& shape, const RandomKey& key, bool requires_grad = false);
    static Tensor rand(const Shape& shape, const RandomKey& key, bool requires_grad = false);

    bool defined() const { return value_.defined(); }
    const ConstArray<T>& value() const { return value_; }
    // For writing: p.value_in_place() -= 0.1 * p.grad(). A graph that saved this value then refuses to run backward.
    // Throws for an expanded tensor, whose elements share memory.
    Array<T> value_in_place();
    const Shape& shape() const { return value_.shape(); }
    std::size_t rank() const { return value_.rank(); }
    std::size_t size() const { return value_.size(); }
    std::size_t dim(std::ptrdiff_t axis) const { return value_.dim(axis); }
    T item() const;  // the only element; throws if there are more
    // Row i along the first axis, from the end if i is negative; an op, in engine/ops/shape/select.cpp.
    Tensor operator[](std::ptrdiff_t i) const;

    bool requires_grad() const { return node_ != nullptr; }
    const NodePtr<T>& node() const { return node_; }
    // The gradient of a leaf, or after retain_grad(); zeros if nothing was accumulated. Throws if no gradient is
    // wanted, or if it was not kept.
    Array<T> grad() const;
    Array<T> grad_if_any() const;  // the same, but undefined if nothing was accumulated
    void zero_grad();

    // Adds d this / d leaf to every leaf's grad(): see engine/autograd/backward.h.
    void backward(const ConstArray<T>& dy = {}, Graph after = Graph::release) const;
    // Keeps the gradient of an intermediate tensor: backward adds it to grad(). Leaves always keep theirs.
    void retain_grad() const;
    // Each backward that reaches this tensor calls f once, when the gradient is complete and before it flows on. f may
    // change it, dy *= 0.5 or dy = ...; the result flows on, and retain_grad() keeps it. Several hooks run in the order
    // of their registration. For a leaf, dy is the sum of all that was added to grad() since zero_grad().
    void on_grad(std::function<void(Array<T>& dy)> f) const;
    // Calls f after those hooks, when the gradient is complete. Copies nothing.
    void on_grad_ready(std::function<void()> f) const;

    // The value as an array to write to, without a copy unless elements share memory: a gradient to hand over.
    Array<T> array() const;
    Tensor detach() const;  // the same value, cut from the graph

    // Moves value and gradient into these arrays (views of a model's flat buffers); copies the value there.
    void bind(Array<T> value, Array<T> grad);

  private:
    void request(const char* what, FunctionRef<void(Watch<T>&)> add) const;

    ConstArray<T> value_;
    NodePtr<T> node_;
};

// Prints shape, op ("leaf" for a leaf that wants a gradient) and values; of large tensors, the values at the edges.
template <class T>
std::ostream& operator<<(std::ostream& out, const Tensor<T>& x);
template <class T>  // prints the values, without xtensor's header for printing
std::ostream& operator<<(std::ostream& out, const ConstArray<T>& x);
template <class T>
std::ostream& operator<<(std::ostream& out, const Array<T>& x) {
    const ConstArray<T>& values = x;
    return out << values;
}

// Throws, naming the op, unless all tensors have a value.
template <class... Tensors>
void check_defined(const char* op, const Tensors&... tensors) {
    check((tensors.defined() && ...), "{}: expected a tensor with a value, got an undefined one", op);
}

// In the scope of a NoGrad, ops of this thread record no graph.
class NoGrad {
  public:
    static bool active() { return depth() > 0; }

  private:
    friend class EnableGrad;
    static int& depth();
    ScopedValue<int> scope_{depth(), depth() + 1};
};

// In the scope of an EnableGrad, ops record a graph even inside a NoGrad.
class EnableGrad {
    ScopedValue<int> scope_{NoGrad::depth(), 0};
};

extern template class Tensor<float>;
extern template class Tensor<double>;

}  // namespace inkling
