#include "engine/autograd/debug/anomaly.h"

#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/autograd/op_gradients.h"
#include "engine/autograd/tensor.h"

namespace inkling {
namespace {

thread_local std::unordered_map<std::uint64_t, std::string> places;  // op and region of nodes, by their order

template <class T, class Body>
void each(const ConstArray<T>& any, const Body& body) {
    const ConstArray<T> a = any.contiguous();
    for (std::size_t i = 0; i < a.size() && body(static_cast<double>(a.data()[i]), i); ++i) {
    }
}

template <class T>
bool contains(const ConstArray<T>& a, bool (*what)(double)) {
    bool found = false;
    each(a, [&](double x, std::size_t) { return !(found = what(x)); });
    return found;
}
bool is_nan(double x) { return std::isnan(x); }
bool is_infinite(double x) { return std::isinf(x); }
bool is_not_finite(double x) { return !std::isfinite(x); }

std::string place_of(const char* op) {
    const std::string region = Region::path();
    return region.empty() ? op : fmt::format("{}: {}", region, op);
}

std::string at_most(const std::vector<detect::Input>& inputs) {
    std::string text;
    for (const detect::Input& x : inputs) text += fmt::format("{}{:.3g}", text.empty() ? "" : ", ", x.largest);
    if (inputs.empty()) return "";
    return fmt::format("; its {} at most {}", inputs.size() == 1 ? "input is" : "inputs are", text);
}

}  // namespace

constinit thread_local int DetectAnomaly::depth = 0;
constinit thread_local const Region* Region::innermost = nullptr;

DetectAnomaly::~DetectAnomaly() {
    if (--depth == 0) places.clear();
}

std::string Region::text() const { return number_ == kNone ? name_ : fmt::format("{} {}", name_, number_); }

std::string Region::path() {
    std::string path;
    for (const Region* r = innermost; r; r = r->outer_) path = path.empty() ? r->text() : r->text() + ", " + path;
    return path;
}

template <class T>
std::string first_not_finite(const ConstArray<T>& values) {
    std::string found;
    each(values, [&](double x, std::size_t i) {
        if (std::isfinite(x)) return true;
        Shape at = values.shape();
        for (std::size_t k = at.size(); k-- > 0; i /= values.shape()[k]) at[k] = i % values.shape()[k];
        found = fmt::format("{} at {} of {}", std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf", at, values.shape());
        return false;
    });
    return found;
}

template <class T>
double largest_magnitude(const ConstArray<T>& values) {
    double largest = 0;
    each(values, [&](double x, std::size_t) {
        if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
        return true;
    });
    return largest;
}

namespace detect {

template <class T>
void note_input(const Tensor<T>& x, std::vector<Input>& inputs) {
    if (!x.defined()) return;
    const bool leaf = x.node() && x.node()->is_leaf();
    inputs.push_back({largest_magnitude(x.value()), contains(x.value(), is_infinite),
                      leaf ? first_not_finite(x.value()) : std::string()});
}

template <class T>
void check_value(const char* op, const ConstArray<T>& value, const Node<T>* node, const std::vector<Input>& in,
                 bool infinities) {
    if (node) places[node->order] = Region::path();
    bool given = infinities;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i].bad.empty())
            throw Anomaly(fmt::format("{}: its input {} is not finite already: it is {}", place_of(op), i, in[i].bad));
        given = given || in[i].infinite;
    }
    if (!contains(value, given ? is_nan : is_not_finite)) return;
    throw Anomaly(fmt::format("{}: the first value that is not finite is {}{}", place_of(op), first_not_finite(value),
                              at_most(in)));
}

template <class T>
void check_gradients(const Node<T>& node, const ConstArray<T>& dy, const Gradients<T>& grads,
                     FunctionRef<void()> backward) {
    const double largest = DetectAnomaly::active() ? largest_magnitude(dy) : 0;  // before backward overwrites dy
    backward();
    if (!DetectAnomaly::active()) return;
    const auto found = places.find(node.order);
    const std::string region = found == places.end() || found->second.empty() ? "" : found->second + ": ";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const Node<T>* const sum = grads.sum_of(i);
        if (!sum || !sum->has_grad || node.inputs[i]->output.partial) continue;
        const ConstArray<T>& gradient = sum->grad;
        const std::string bad = first_not_finite(gradient);
        if (bad.empty()) continue;
        throw Anomaly(
            fmt::format("{}backward of {}: the first gradient that is not finite is {}, of input {}; "
                        "the gradient of its output is at most {:.3g}",
                        region, node.op, bad, i, largest));
    }
}

}  // namespace detect

#define INKLING_INSTANTIATE(T)                                                                       \
    template std::string first_not_finite(const ConstArray<T>&);                                     \
    template double largest_magnitude(const ConstArray<T>&);                                         \
    template void detect::note_input(const Tensor<T>&, std::vector<detect::Input>&);                 \
    template void detect::check_value(const char*, const ConstArray<T>&, const Node<T>*,             \
                                      const std::vector<detect::Input>&, bool);                      \
    template void detect::check_gradients(const Node<T>&, const ConstArray<T>&, const Gradients<T>&, \
                                          FunctionRef<void()>);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling
