// SGD against torch.optim.SGD.
#include "train/optimizers/sgd.h"

#include "tests/train/parameters.h"

TEMPLATE_TEST_CASE("PyTorch agrees: 6 steps of SGD, plain, with momentum and Nesterov's", "[train]", float, double) {
    const double tolerance = std::is_same_v<T, double> ? 1e-13 : 1e-6;
    const auto cases = reference("optimizers.json")["sgd"];
    REQUIRE(cases.size() == 3);
    for (const auto& c : cases) {
        Named<T> module({{"weight", array_from<T>(c["start"])}});
        nn::FlatParameters<T> flat(module);
        SGD<T> sgd(flat, {c["momentum"], c["nesterov"], c["weight_decay"]});
        for (const auto& step : c["steps"]) {
            Array<T> twice = array_from<T>(step["gradient"]) * T{2};
            set_gradient(flat, "weight", twice);
            sgd.step(step["rate"].get<double>(), 0.5);
            check_close(module["weight"], array_from<double>(step["after"]), tolerance);
        }
    }
}

TEST_CASE("sgd: vectors do not decay", "[train]") {
    Named<double> module({{"matrix", Array<double>({2, 2}, 1.0)}, {"vector", Array<double>({3}, 1.0)}});
    nn::FlatParameters<double> flat(module);
    SGD<double> sgd(flat, {0.9, false, 0.5});
    set_gradient(flat, "matrix", Array<double>({2, 2}, 0.0)), set_gradient(flat, "vector", Array<double>({3}, 0.0));
    sgd.step(0.1);
    check_equal(module["vector"], {1, 1, 1});
    check_close(module["matrix"], Array<double>({2, 2}, 0.95), 1e-15);
    CHECK(sgd.updates == 1);
}
