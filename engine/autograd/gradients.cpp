#include "engine/autograd/gradients.h"

#include "engine/autograd/run.h"

namespace inkling {

template <class T>
std::vector<Tensor<T>> gradients(const Tensor<T>& y, const std::vector<Tensor<std::type_identity_t<T>>>& x,
                                 const GradientOptions<std::type_identity_t<T>>& options) {
    check_cotangent("gradients", y, options.dy.value());
    std::vector<NodePtr<T>> targets;
    for (const Tensor<T>& input : x) {
        check(input.requires_grad(), "gradients: input {} of {} requires no gradient", targets.size(), x.size());
        targets.push_back(input.node());
    }
    check(!options.create_graph || !NoGrad::active(),
          "gradients: create_graph is asked for in the scope of a NoGrad: use an EnableGrad there");
    GraphRun<T> run("gradients", y.node(), options.create_graph ? Into::tensors : Into::arrays, targets);
    run.propagate(options.dy.defined() ? options.dy : Tensor<T>::ones(y.shape()),
                  options.keep_graph ? Graph::keep : Graph::release);
    std::vector<Tensor<T>> found;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Tensor<T> g = run.gradient(targets[i]);
        found.push_back(g.defined() ? g : Tensor<T>::zeros(x[i].shape()));
    }
    return found;
}

template std::vector<Tensor<float>> gradients(const Tensor<float>&, const std::vector<Tensor<float>>&,
                                              const GradientOptions<float>&);
template std::vector<Tensor<double>> gradients(const Tensor<double>&, const std::vector<Tensor<double>>&,
                                               const GradientOptions<double>&);

}  // namespace inkling
