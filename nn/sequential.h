// A chain of layers and functions of a tensor, such as ops:
//   Generator random{1337, 0};
//   nn::Sequential<float> net(nn::Linear<float>(random, 2, 16), relu<float>, nn::Linear<float>(random, 16, 1));
//   Tensor<float> y = net.forward(x);
// Parameters are named by index, "0.weight", "2.weight", as in torch.nn.Sequential.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "engine/autograd/debug/anomaly.h"
#include "engine/base/random.h"
#include "nn/module.h"

namespace inkling::nn {

template <class T>
class Sequential : public Module<T> {
  public:
    template <class... Layers>
    explicit Sequential(Layers... layers) {
        (add(std::move(layers)), ...);
    }

    template <class Layer>
    void add(Layer layer) {
        if constexpr (std::derived_from<Layer, Module<T>>) {
            auto owned = std::make_unique<Layer>(std::move(layer));
            const auto forward = [&l = *owned](const Tensor<T>& x, Generator* random) {
                if constexpr (requires { l.forward(x, random); }) {
                    return l.forward(x, random);
                } else {
                    return l.forward(x);
                }
            };
            steps_.push_back({forward, std::move(owned)});
        } else if constexpr (std::is_invocable_r_v<Tensor<T>, const Layer&, const Tensor<T>&>) {
            steps_.push_back({[layer = std::move(layer)](const Tensor<T>& x, Generator*) { return layer(x); },
                              std::make_unique<Function>()});
        } else {
            static_assert(!std::is_same_v<Layer, Layer>,
                          "Sequential<T> takes modules of the same T, and functions from a Tensor<T> to a Tensor<T>");
        }
    }

    std::size_t size() const { return steps_.size(); }

    // Dropout layers take their keys from `random`.
    Tensor<T> forward(const Tensor<T>& x, Generator* random = nullptr) const {
        Tensor<T> y = x;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const Region region("step", i);
            y = steps_[i].forward(y, random);
        }
        return y;
    }
    void visit(const Visitor<T>& v) override {
        for (std::size_t i = 0; i < steps_.size(); ++i) v(std::to_string(i), *steps_[i].module);
    }

  private:
    struct Function : Module<T> {  // stands for a function, which has no parameters
        void visit(const Visitor<T>&) override {}
    };
    struct Step {
        std::function<Tensor<T>(const Tensor<T>& x, Generator* random)> forward;
        std::unique_ptr<Module<T>> module;
    };

    std::vector<Step> steps_;
};

}  // namespace inkling::nn
