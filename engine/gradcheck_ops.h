// What the files of gradcheck_ops() share.
#pragma once

#include "engine/gradcheck.h"

namespace inkling {

std::vector<GradcheckRow> elementwise_rows();
std::vector<GradcheckRow> reduction_rows();
std::vector<GradcheckRow> shape_rows();
std::vector<GradcheckRow> product_rows();

// Over whole arrays of several shapes, transposed views, and every second element of an axis.
using Preparation = Array<double> (*)(Array<double>);
double unary_error(FunctionRef<Tensor<double>(const Tensor<double>&)> f, const std::vector<Shape>& shapes,
                   Preparation prepare = nullptr);

double error_of(Function f, const std::vector<Shape>& shapes);  // at normal numbers of the inputs' shapes

IdArray some_ids(const Shape& shape, std::size_t below);

inline double worst_of(std::initializer_list<double> errors) { return std::max(errors); }

}  // namespace inkling
