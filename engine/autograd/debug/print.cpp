// Prints tensors as text. xtensor's printing takes long to compile; only this file includes it.
#include <ostream>
#include <xtensor/xio.hpp>

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
std::ostream& operator<<(std::ostream& out, const Tensor<T>& x) {
    if (!x.defined()) return out << "Tensor, undefined";
    out << "Tensor " << to_string(x.shape());
    if (x.node()) out << ' ' << x.node()->op;
    if (x.rank() == 0) return out << ' ' << x.item();
    return out << '\n' << x.value();
}

template <class T>
std::ostream& operator<<(std::ostream& out, const ConstArray<T>& x) {
    if (!x.defined()) return out << "undefined";
    return out << static_cast<const xt::xexpression<ConstArray<T>>&>(x);
}

template std::ostream& operator<<(std::ostream&, const Tensor<float>&);
template std::ostream& operator<<(std::ostream&, const Tensor<double>&);
template std::ostream& operator<<(std::ostream&, const ConstArray<float>&);
template std::ostream& operator<<(std::ostream&, const ConstArray<double>&);
template std::ostream& operator<<(std::ostream&, const ConstArray<std::int32_t>&);
template std::ostream& operator<<(std::ostream&, const ConstArray<std::uint8_t>&);

}  // namespace inkling
