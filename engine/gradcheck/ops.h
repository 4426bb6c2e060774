// What the files of gradcheck_ops() share.
#pragma once

#include "engine/gradcheck/gradcheck.h"

namespace inkling {

// A scalar, one to four axes, axes of size 1.
inline const std::vector<Shape> kManyShapes = {{}, {1}, {5}, {17}, {3, 4}, {2, 1, 3}, {2, 3, 2, 3}, {1, 1}};

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
