// What all optimizers share: parameters without a gradient, options out of range, and PyTorch's defaults.
#include "train/optimizers/optimizer.h"

#include "nn/linear.h"
#include "tests/train/parameters.h"
#include "train/optimizers/adamw.h"
#include "train/optimizers/muon.h"
#include "train/optimizers/sgd.h"

namespace {

using Made = std::unique_ptr<train::Optimizer<double>>;
using Make = std::function<Made(nn::FlatParameters<double>&)>;

template <template <class> class Kind, class Options>
Make maker(const Options& options) {
    return [=](nn::FlatParameters<double>& flat) { return std::make_unique<Kind<double>>(flat, options); };
}

std::vector<std::pair<std::string, Make>> all_kinds() {
    std::vector<std::pair<std::string, Make>> kinds;
    for (const double decay : {0.0, 0.5}) {
        const std::string with = decay > 0 ? " with decay" : "";
        kinds.emplace_back("sgd" + with, maker<SGD>(train::SGDOptions{0, false, decay}));
        kinds.emplace_back("sgd, momentum" + with, maker<SGD>(train::SGDOptions{0.9, false, decay}));
        kinds.emplace_back("sgd, nesterov" + with, maker<SGD>(train::SGDOptions{0.9, true, decay}));
        kinds.emplace_back("adamw" + with, maker<AdamW>(train::AdamWOptions{.weight_decay = decay}));
        kinds.emplace_back("adamw, cautious" + with,
                           maker<AdamW>(train::AdamWOptions{.weight_decay = decay, .cautious = true}));
        train::MuonOptions muon;
        muon.weight_decay = muon.adamw.weight_decay = decay;
        kinds.emplace_back("muon" + with, maker<Muon>(muon));
    }
    return kinds;
}

// The parameters after steps that reach parameter `name` in step i if reached(name, i).
template <class Reached>
std::vector<Array<double>> after_steps(const Make& make, const std::vector<std::string>& names,
                                       const Reached& reached) {
    std::vector<std::pair<std::string, Array<double>>> starts;
    for (const std::string& name : names)
        starts.emplace_back(name, normal(name[0] == 'v' ? Shape{5} : Shape{4, 3}, name[1]));
    Named<double> module(starts);
    nn::FlatParameters<double> flat(module);
    const Made optimizer = make(flat);
    for (std::uint64_t i = 0; i < 6; ++i) {
        flat.zero_gradients();
        for (const auto& [name, start] : starts)
            if (reached(name, i)) set_gradient(flat, name, normal(start.shape(), 10 * i + name[1]));
        train::gradient_norm(flat.gradients());  // clipping reads all gradients before the step
        optimizer->step(0.1);
    }
    std::vector<Array<double>> values;
    for (const std::string& name : names) values.push_back(module[name].clone());
    return values;
}

}  // namespace

TEST_CASE("optimizers: a step leaves alone what backward did not reach, as in PyTorch", "[train]") {
    // m1 and v1 always have a gradient; m2 and v2 in steps 0 and 4; m3 and v3 from step 2 on; m4 and v4 never
    const auto reached = [](const std::string& name, std::uint64_t i) {
        return name[1] == '1' || (name[1] == '2' && (i == 0 || i == 4)) || (name[1] == '3' && i >= 2);
    };
    const std::vector<std::string> names = {"m1", "m2", "m3", "m4", "v1", "v2", "v3", "v4"};
    for (const auto& [kind, make] : all_kinds()) {
        INFO(kind);
        const auto together = after_steps(make, names, reached);
        for (std::size_t i = 0; i < names.size(); ++i) {
            INFO(names[i]);
            // alone, with an optimizer that only counts the steps that reached it
            Named<double> module({{names[i], normal(together[i].shape(), names[i][1])}});
            nn::FlatParameters<double> flat(module);
            const Made optimizer = make(flat);
            for (std::uint64_t step = 0; step < 6; ++step) {
                if (!reached(names[i], step)) continue;
                set_gradient(flat, names[i], normal(together[i].shape(), 10 * step + names[i][1]));
                optimizer->step(0.1);
            }
            check_close(module[names[i]], together[i], 1e-13);
            CHECK(same_bits(together[i], normal(together[i].shape(), names[i][1])) == (names[i][1] == '4'));
        }
    }
}

TEST_CASE("optimizers: a parameter frozen after the optimizer was made stays", "[train]") {
    for (const auto& [kind, make] : all_kinds()) {
        INFO(kind);
        Generator random{1, 0};
        nn::Linear<double> linear(random, 3, 2);
        nn::FlatParameters<double> flat(linear);
        const Made optimizer = make(flat);
        const auto step = [&] {
            linear.forward(Tensor<double>(normal({4, 3}, 2))).backward(normal({4, 2}, 3));
            optimizer->step(0.1);
        };
        step();
        linear.freeze([](const std::string& name) { return name == "weight"; });
        const Array<double> weight = linear.weight.value().clone(), bias = linear.bias.value().clone();
        step();
        flat.zero_gradients();
        step();
        CHECK_ALL(same_bits(linear.weight.value(), weight), !same_bits(linear.bias.value(), bias));
    }
}

TEST_CASE("optimizers: options out of range are refused, and defaults are PyTorch's", "[train]") {
    Generator random{1, 0};
    nn::Linear<double> linear(random, 3, 2);
    nn::FlatParameters<double> flat(linear);
    const double nan = std::nan("");
    for (const double bad : {-1.0, 1.0, nan}) {
        CHECK_THROWS_WITH(AdamW<double>(flat, {.beta1 = bad}), contains("beta1 must be at least 0 and less than 1"));
        CHECK_THROWS_WITH(AdamW<double>(flat, {.beta2 = bad}), contains("beta2 must be"));
    }
    for (const double bad : {-1.0, nan}) {
        CHECK_THROWS_WITH(AdamW<double>(flat, {.eps = bad}), contains("eps must be"));
        CHECK_THROWS_WITH(AdamW<double>(flat, {.weight_decay = bad}), contains("weight_decay must be"));
        CHECK_THROWS_WITH(AdamW<double>(flat, {.rates = {.head = bad}}), contains("rate of a role must be"));
        CHECK_THROWS_WITH(SGD<double>(flat, {.momentum = bad}), contains("momentum must be"));
        CHECK_THROWS_WITH(SGD<double>(flat, {.weight_decay = bad}), contains("weight_decay must be"));
        CHECK_THROWS_WITH(Muon<double>(flat, {.momentum = bad}), contains("momentum must be"));
        CHECK_THROWS_WITH(Muon<double>(flat, {.weight_decay = bad}), contains("weight_decay must be"));
        for (const auto& [kind, make] : all_kinds()) {
            INFO(kind);
            const Made optimizer = make(flat);
            CHECK_THROWS_WITH(optimizer->step(bad), contains("the learning rate must be at least 0"));
            CHECK(optimizer->updates == 0);
        }
    }
    CHECK_THROWS_WITH(SGD<double>(flat, {.nesterov = true}), contains("nesterov needs a momentum"));
    const train::AdamWOptions adamw;
    CHECK_ALL(adamw.beta1 == 0.9, adamw.beta2 == 0.999, adamw.eps == 1e-8, adamw.weight_decay == 0.01);
    const train::SGDOptions sgd;
    CHECK_ALL(sgd.momentum == 0, !sgd.nesterov, sgd.weight_decay == 0);
    const train::MuonOptions muon;
    CHECK_ALL(muon.momentum == 0.95, muon.nesterov, muon.ns_steps == 5, muon.weight_decay == 0.1);
}
