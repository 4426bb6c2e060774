// The parts of the module. Each file is named after its part; bind_random is in creation.cpp, bind_errors in train.cpp.
#pragma once

#include "python/bind/define.h"

namespace inkling::models {
struct Architecture;
}
namespace inkling::python {

nb::dict config_of(const models::Architecture& architecture);

void bind_errors(nb::module_& m);
void bind_random(nb::module_& m);
nb::class_<AnyTensor> bind_tensor(nb::module_& m);
void bind_creation(nb::class_<AnyTensor>& tensor);
void bind_scopes(nb::module_& m);
void bind_operators(nb::class_<AnyTensor>& tensor);
void bind_ops(nb::module_& m, nb::class_<AnyTensor>& tensor);
void bind_composed(nb::module_& m, nb::class_<AnyTensor>& tensor);
void bind_custom(nb::module_& m);
void bind_derivatives(nb::module_& m);
void bind_optimizers(nb::module_& optim);
void bind_layers(nb::module_& nn);
void bind_attention(nb::module_& nn);
void bind_model(nb::module_& m);
void bind_train(nb::module_& m);
void bind_refusals(nb::module_& m);

}  // namespace inkling::python
