#include "engine/autograd/debug/anomaly.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/autograd/op_gradients.h"
#include "engine/autograd/tensor.h"
#include "engine/base/both_types.h"

namespace inkling {
namespace {

thread_local std::unordered_map<std::uint64_t, std::string> places;  // op and region of nodes, by their order

template <class T, class What>
bool contains(const ConstArray<T>& values, const What& what) {
    const ConstArray<T> a = values.contiguous();
    return std::any_of(a.data(), a.data() + a.size(), what);
}

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
    const ConstArray<T> a = values.contiguous();
    std::size_t i = 0;
    while (i < a.size() && std::isfinite(a.data()[i])) ++i;
    if (i == a.size()) return "";
    const T x = a.data()[i];
    Shape at = a.shape();
    for (std::size_t k = at.size(); k-- > 0; i /= a.shape()[k]) at[k] = i % a.shape()[k];
    return fmt::format("{} at {} of {}", std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf", at, a.shape());
}

template <class T>
double largest_magnitude(const ConstArray<T>& values) {
    const ConstArray<T> a = values.contiguous();
    T largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::isfinite(a.data()[i])) largest = std::max(largest, std::abs(a.data()[i]));
    return static_cast<double>(largest);
}

namespace detect {

template <class T>
void note_input(const Tensor<T>& x, std::vector<Input>& inputs) {
    if (!x.defined()) return;
    const bool leaf = x.node() && x.node()->is_leaf();
    inputs.push_back({largest_magnitude(x.value()), contains(x.value(), [](T v) { return std::isinf(v); }),
                      leaf ? first_not_finite(x.value()) : std::string()});
}

template <class T>
void check_value(const char* op, const ConstArray<T>& value, const Node<T>* node, const std::vector<Input>& in) {
    if (node) places[node->order] = Region::path();
    bool given = false;  // infinities, which may stay
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i].bad.empty())
            throw Anomaly(fmt::format("{}: its input {} is not finite already: it is {}", place_of(op), i, in[i].bad));
        given = given || in[i].infinite;
    }
    if (!contains(value, [given](T v) { return given ? std::isnan(v) : !std::isfinite(v); })) return;
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
        if (!sum || !sum->has_grad || (node.inputs[i]->output && node.inputs[i]->output->partial)) continue;
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

INKLING_BOTH_TYPES(first_not_finite<T>, largest_magnitude<T>, detect::note_input<T>, detect::check_value<T>,
                   detect::check_gradients<T>);

}  // namespace inkling
