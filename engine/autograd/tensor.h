// Tensor<T>: a value and, when a gradient is wanted, the node of the graph that made it.
//   auto w = Tensor<double>::from({1, 2, 3}, true);   // a leaf whose gradient is wanted
//   Tensor<double> y = sum(2 * w * w + 1);            // engine/ops.h
//   y.backward();                                     // w.grad() is 4 w
//   std::cout << y;                                   // shape, op and values
// Copies share value and node. A node does not keep the value: what backward needs is saved by the op, so any other
// intermediate goes back to the pool as soon as its last handle does.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <vector>

#include "engine/array/array.h"
#include "engine/autograd/anomaly.h"
#include "engine/autograd/node.h"
#include "engine/base/profile.h"

namespace inkling {

class PackedMatrix;
struct RandomKey;

enum class Graph { release, keep };  // what becomes of a graph after backward

// Numbers in nested braces, {{1, 2}, {3, 4}}, or one number.
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
    explicit Tensor(std::shared_ptr<const PackedMatrix> packed);  // see packed() in engine/autograd/packed_matrix.h

    // Leaves. A gradient is wanted where the last argument says so.
    static Tensor from(const Nested<T>& values,
                       bool requires_grad = false);  // from({{1, 2}, {3, 4}}) is of shape (2, 2)
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
    const ConstArray<T>& value() const {
        if (packed_) refuse_packed();
        return value_;
    }
    const std::shared_ptr<const PackedMatrix>& packed() const { return packed_; }  // null: it is not
    // For writing: p.value_in_place() -= 0.1 * p.grad(). A graph that saved this value will refuse to run backward.
    // Throws for what was expanded, whose elements share places.
    Array<T> value_in_place();
    const Shape& shape() const { return value_.shape(); }
    std::size_t rank() const { return value_.rank(); }
    std::size_t size() const { return value_.size(); }
    std::size_t dim(std::ptrdiff_t axis) const { return value_.dim(axis); }
    T item() const;  // the one element; throws when there are more

    bool requires_grad() const { return node_ != nullptr; }
    const NodePtr<T>& node() const { return node_; }
    // Of a leaf, or of what retain_grad() was called for; zeros when nothing was accumulated. Throws when no gradient
    // is wanted, and when it was not kept.
    Array<T> grad() const;
    void zero_grad();

    // Adds d this / d leaf to every leaf's grad(): see engine/autograd/backward.h.
    void backward(const ConstArray<T>& dy = {}, Graph after = Graph::release) const;
    // Keeps the gradient of an intermediate: backward adds it to grad(). Leaves keep theirs anyway.
    void retain_grad() const;
    // f is called once in each backward that reaches this tensor, when its gradient is complete and before it flows on.
    // What f makes of it, dy *= 0.5 or dy = ..., flows on in its place, and is what retain_grad() keeps. Several are
    // called in the order in which they came. For a leaf, dy is all that was added to grad() since zero_grad().
    void on_grad(std::function<void(Array<T>& dy)> f) const;
    // The same, after those hooks, for an f that only wants to know when the gradient is complete. Nothing is copied.
    void on_grad_ready(std::function<void()> f) const;

    Tensor detach() const;  // the same value, cut from the graph

    // Fixes where value and gradient live (views of a model's flat buffers); the value is copied there.
    void bind(Array<T> value, Array<T> grad);

  private:
    [[noreturn]] void refuse_packed() const;
    Watch<T>& watch(const char* what) const;

    ConstArray<T> value_;
    NodePtr<T> node_;
    std::shared_ptr<const PackedMatrix> packed_;  // what value_ has only the shape of
};

// Shape, op ("leaf" where a gradient is wanted) and values; of large tensors the values at the edges.
template <class T>
std::ostream& operator<<(std::ostream& out, const Tensor<T>& x);
template <class T>  // the values alone; without this, xtensor's header for printing would have to be included
std::ostream& operator<<(std::ostream& out, const ConstArray<T>& x);
template <class T>
std::ostream& operator<<(std::ostream& out, const Array<T>& x) {
    const ConstArray<T>& values = x;
    return out << values;
}

// Throws, naming the op, unless all tensors have a value.
template <class... Tensors>
void check_defined(const char* op, const Tensors&... tensors) {
    check((tensors.defined() && ...), "{}: a tensor with a value is required, got an undefined one", op);
}

// An array that backward will need, with the version it has now. get() throws when it was written to since.
template <class T>
class Saved {
  public:
    Saved() = default;
    explicit Saved(ConstArray<T> array) : array_(std::move(array)), version_(array_.version()) {}
    template <std::same_as<T> F>
    explicit Saved(const Tensor<F>& tensor) : Saved(tensor.value()) {}
    const ConstArray<T>& get() const;
    const ConstArray<T>& operator*() const { return get(); }
    const ConstArray<T>* operator->() const { return &get(); }

  private:
    ConstArray<T> array_;
    std::uint32_t version_ = 0;
};
template <class T>
Saved(const Array<T>&) -> Saved<T>;
template <class T>
Saved(const Tensor<T>&) -> Saved<T>;

// `needed` as the gradient of x takes it: saved, or undefined where x wants none.
template <class T>
Saved<T> saved_for(const Tensor<T>& x, const ConstArray<std::type_identity_t<T>>& needed) {
    return x.requires_grad() ? Saved<T>(needed) : Saved<T>();
}

// Inside a scope with a NoGrad, ops record no graph (on this thread).
class NoGrad {
  public:
    NoGrad() { ++depth(); }
    ~NoGrad() { --depth(); }
    NoGrad(const NoGrad&) = delete;
    NoGrad& operator=(const NoGrad&) = delete;
    static bool active() { return depth() > 0; }

  private:
    static int& depth();
};

template <class T, class... Tensors>
std::vector<NodePtr<T>> inputs(const Tensor<T>& first, const Tensors&... others) {
    if (DetectAnomaly::active()) detect::note_input(first), (detect::note_input(others), ...);
    std::vector<NodePtr<T>> nodes;
    nodes.reserve(1 + sizeof...(others));
    nodes.push_back(first.node());
    (nodes.push_back(others.node()), ...);
    return nodes;
}

// Every op ends here. Makes the output, with a node when any input wants a gradient; otherwise `backward` is dropped.
template <class T>
Tensor<T> record(const char* op, ConstArray<std::type_identity_t<T>> value, std::vector<NodePtr<T>> input_nodes,
                 typename Node<std::type_identity_t<T>>::Backward backward);

extern template class Tensor<float>;
extern template class Tensor<double>;
extern template class Saved<float>;
extern template class Saved<double>;

}  // namespace inkling
