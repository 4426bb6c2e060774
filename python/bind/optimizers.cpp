// The optimizers and schedules of train/; inkling/optim/__init__.py is what users import.
#include <nanobind/stl/map.h>
#include <nanobind/stl/unique_ptr.h>

#include <cmath>
#include <mutex>

#include "python/bind/bind.h"
#include "train/optimizers/adamw.h"
#include "train/optimizers/muon.h"
#include "train/optimizers/sgd.h"
#include "train/step/schedule.h"

namespace inkling::python {
namespace {

using Parameters = std::vector<AnyTensor>;

bool has_gradient(const AnyTensor& x) {
    return visit(x, [](auto& t) { return t.node() && t.node()->is_leaf() && t.grad_if_any().defined(); });
}

// An optimizer of tensors that keep their memory: a step copies those with a gradient into its own flat buffer and
// back.
struct AnyOptimizer {
    virtual ~AnyOptimizer() = default;
    virtual void step(const Parameters& parameters, double learning_rate) = 0;  // as many as it was made for
    // "updates", "missed" (train/optimizers/optimizer.h), and copies of the arrays by parameter number and state name.
    virtual nb::dict state() = 0;
    virtual void set_state(const nb::dict& state) = 0;
};

template <class T>
class OptimizerOver : public AnyOptimizer {
  public:
    template <class Make>  // make(FlatParameters<T>&)
    OptimizerOver(const Parameters& all, const Make& make) {
        for (const AnyTensor& x : all) {
            const Tensor<T>& p = x.as<T>("optimizer");
            shapes_.push_back(p.shape());
            check(!p.node() || p.node()->is_leaf(), "optimizer: expected leaves, got the result of '{}'",
                  p.node() ? p.node()->op : "");
            // as in PyTorch, weight decay applies to all: a vector is a matrix with one row, which Muon does not update
            const Shape shape = p.rank() < 2 ? Shape{1, p.size()} : p.shape();
            copies_.all.emplace_back(Array<T>(shape, T{0}), true);
            copies_.roles.push_back(p.rank() == 2 ? nn::Role::matrix : nn::Role::vector);
        }
        flat_ = nn::FlatParameters<T>(copies_);
        optimizer_ = make(flat_);
    }

    void step(const Parameters& parameters, double learning_rate) override {
        const std::lock_guard one_at_a_time(stepping_);
        check(parameters.size() == shapes_.size(), "step: the group was made for {} parameters, got {}", shapes_.size(),
              parameters.size());
        Array<T>& values = flat_.values();
        each([&](std::size_t i, const Shape& shape, const Entry& entry) {
            const Tensor<T>& p = parameters[i].as<T>("step");
            check(p.shape() == shape, "step: parameter {} was made with shape {}, got {}", i, shape, p.shape());
            Node<T>& copy = *entry.parameter.node();
            const Array<T> given = has_gradient(parameters[i]) ? p.grad_if_any() : Array<T>();
            copy.has_grad = given.defined();
            if (!copy.has_grad) return;
            Array<T> value = place(values, entry, shape), gradient = copy.grad.reshaped(shape);
            copy_into(value, p.value());
            copy_into(gradient, given);
        });
        optimizer_->step(learning_rate);
        each([&](std::size_t i, const Shape& shape, const Entry& entry) {
            if (!entry.parameter.node()->has_grad) return;
            Array<T> value = Tensor<T>(parameters[i].as<T>("step")).value_in_place();
            copy_into(value, place(values, entry, shape));
        });
    }

    nb::dict state() override {
        nb::dict all;
        all["updates"] = optimizer_->updates, all["missed"] = optimizer_->missed;
        each_state([&](const std::string& name, const Shape& shape, T* values) {
            Array<T> copy(shape);
            std::copy_n(values, copy.size(), copy.data());
            all[name.c_str()] = numpy_view<T>(copy, true);
        });
        return all;
    }
    void set_state(const nb::dict& state) override {
        const auto missed = nb::cast<std::vector<std::uint64_t>>(state["missed"]);
        check(missed.size() == shapes_.size(), "load_state_dict: {} counts of missed updates for {} parameters",
              missed.size(), shapes_.size());
        const auto updates = nb::cast<std::uint64_t>(state["updates"]);
        std::vector<std::pair<Array<T>, T*>> checked;
        each_state([&](const std::string& name, const Shape& shape, T* values) {
            const AnyTensor given = tensor_over(state[name.c_str()], kDType<T>, false);
            const Array<T> dense = given.as<T>("load_state_dict").value().clone();
            check(dense.shape() == shape, "load_state_dict: {} has shape {}, the parameter {}", name, dense.shape(),
                  shape);
            checked.emplace_back(dense, values);
        });
        for (const auto& [from, to] : checked) std::copy_n(from.data(), from.size(), to);
        optimizer_->updates = updates, optimizer_->missed = missed;
    }

  private:
    using Entry = typename nn::FlatParameters<T>::Entry;
    struct List : nn::Module<T> {
        std::vector<Tensor<T>> all;
        std::vector<nn::Role> roles;
        void visit(const nn::Visitor<T>& v) override {
            for (std::size_t i = 0; i < all.size(); ++i) v(std::to_string(i), all[i], {roles[i]});
        }
    };

    static Array<T> place(const Array<T>& flat, const Entry& entry, const Shape& shape) {
        return flat.sliced(0, entry.offset, entry.offset + entry.parameter.size()).reshaped(shape);
    }
    template <class F>
    void each(const F& f) {
        for (std::size_t i = 0; i < shapes_.size(); ++i) f(i, shapes_[i], flat_.entries()[i]);
    }
    template <class F>
    void each_state(const F& f) {
        each([&](std::size_t i, const Shape& shape, const Entry& entry) {
            for (const auto& s : optimizer_->state_of(entry)) f(fmt::format("{}.{}", i, s.kind), shape, s.values);
        });
    }

    std::vector<Shape> shapes_;  // of the parameters
    List copies_;
    nn::FlatParameters<T> flat_;
    std::mutex stepping_;
    std::unique_ptr<train::Optimizer<T>> optimizer_;
};

template <template <class> class Kind, class Options>
std::unique_ptr<AnyOptimizer> optimizer_over(const Parameters& parameters, const Options& options) {
    check(!parameters.empty(), "optimizer: at least one parameter is required");
    return with_type(parameters[0].dtype(), [&]<class T>() -> std::unique_ptr<AnyOptimizer> {
        return std::make_unique<OptimizerOver<T>>(
            parameters, [&](nn::FlatParameters<T>& flat) { return std::make_unique<Kind<T>>(flat, options); });
    });
}

double clip_grad_norm(Parameters parameters, double max_norm) {
    check(max_norm >= 0, "clip_grad_norm: expected a norm of at least 0, got {}", max_norm);
    std::erase_if(parameters, [](const AnyTensor& p) { return !has_gradient(p); });
    double squares = 0;
    for (const AnyTensor& p : parameters) {
        const double norm = visit(
            p, []<class T>(const Tensor<T>& t) { return train::gradient_norm<T>(Array<T>(t.grad().contiguous())); });
        squares += norm * norm;
    }
    const double norm = std::sqrt(squares), scale = max_norm > 0 ? train::clip_scale(norm, max_norm) : 0.0;
    if (scale == 1) return norm;
    for (const AnyTensor& p : parameters)
        visit(p, [&]<class T>(const Tensor<T>& t) {
            Array<T> g = t.grad();
            g *= static_cast<T>(scale);
        });
    return norm;
}

}  // namespace

void bind_optimizers(nb::module_& m) {
    nb::class_<AnyOptimizer>(m, "Group", "An optimizer of one group of parameters.")
        .def("step", &AnyOptimizer::step, "params"_a, "learning_rate"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("state", &AnyOptimizer::state)
        .def("set_state", &AnyOptimizer::set_state, "state"_a);
    m.def(
        "adamw",
        [](const Parameters& params, std::pair<double, double> betas, double eps, double weight_decay) {
            return optimizer_over<train::AdamW>(params,
                                                train::AdamWOptions{betas.first, betas.second, eps, weight_decay});
        },
        "params"_a, "betas"_a, "eps"_a, "weight_decay"_a);
    m.def(
        "sgd",
        [](const Parameters& params, double momentum, bool nesterov, double weight_decay) {
            return optimizer_over<train::SGD>(params, train::SGDOptions{momentum, nesterov, weight_decay});
        },
        "params"_a, "momentum"_a, "nesterov"_a, "weight_decay"_a);
    m.def(
        "muon",
        [](const Parameters& params, double momentum, bool nesterov, std::size_t ns_steps, train::MuonScale scale,
           double weight_decay, std::pair<double, double> betas, double eps, double adamw_rate) {
            const train::RoleRates rates{adamw_rate, adamw_rate, adamw_rate, adamw_rate};
            return optimizer_over<train::Muon>(
                params, train::MuonOptions{.momentum = momentum,
                                           .nesterov = nesterov,
                                           .ns_steps = ns_steps,
                                           .scale = scale,
                                           .weight_decay = weight_decay,
                                           .adamw = {betas.first, betas.second, eps, weight_decay, false, rates}});
        },
        "params"_a, "momentum"_a, "nesterov"_a, "ns_steps"_a, "scale"_a, "weight_decay"_a, "betas"_a, "eps"_a,
        "adamw_rate"_a);
    m.def(
        "identity",
        [](const AnyTensor& x) {
            return visit(x, [](auto& t) { return reinterpret_cast<std::uintptr_t>(t.node().get()); });
        },
        "x"_a, "The same number for two tensors that are one parameter.");
    m.def("clip_grad_norm", &clip_grad_norm, "params"_a, "max_norm"_a, nb::call_guard<nb::gil_scoped_release>());
    nb::class_<train::Schedule>(m, "Schedule",
                                "The learning rate of each step: from 0 to peak in `warmup` steps, then to floor at "
                                "`steps`. kind: 'cosine', 'linear', 'wsd' (stable, then down) or 'constant'.")
        .def(
            "__init__",
            [](train::Schedule* self, train::ScheduleKind kind, std::size_t steps, std::size_t warmup, double peak,
               double floor,
               double decay_fraction) { new (self) train::Schedule{kind, peak, floor, warmup, steps, decay_fraction}; },
            "kind"_a, "steps"_a, "warmup"_a = 0, "peak"_a = 1.0, "floor"_a = 0.0, "decay_fraction"_a = 0.2)
        .def("__call__", &train::Schedule::at, "step"_a,
             "The learning rate of step 0, 1, ...; without a warm-up, step 0 has the peak.");
}

}  // namespace inkling::python
