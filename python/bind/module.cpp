// The module inkling._inkling; inkling/__init__.py is what users import.
#include <cstdlib>

#include "python/bind/bind.h"

NB_MODULE(_inkling, m) {
    using namespace inkling::python;
    // Silent unless a test asks: other libraries, such as transformers, keep modules alive at exit.
    nb::set_leak_warnings(std::getenv("INKLING_LEAKS") != nullptr);
    m.attr("__version__") = INKLING_VERSION;
    m.doc() = "Arrays with gradients, layers, language models and their training, in C++.";
    bind_errors(m);
    bind_random(m);
    auto tensor = bind_tensor(m);
    bind_scopes(m);
    bind_operators(tensor);
    bind_ops(m, tensor);
    bind_composed(m, tensor);
    bind_custom(m);
    bind_derivatives(m);
    nb::module_ optim = m.def_submodule("_optim", "Optimizers.");
    bind_optimizers(optim);
    nb::module_ nn = m.def_submodule("_nn", "Layers.");
    bind_layers(nn);
    bind_attention(nn);
    bind_model(m);
    bind_train(m);
    bind_refusals(m);
}
