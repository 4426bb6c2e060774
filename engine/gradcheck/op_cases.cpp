#include "engine/gradcheck/op_cases.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "engine/gradcheck/gradcheck.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
namespace {

enum class Layout { swapped, reversed, every_second };

// An array that holds x in another layout; the elements between those of x are normal numbers.
Array<double> laid_out(const Array<double>& x, Layout layout) {
    if (layout != Layout::every_second) {
        if (x.rank() < 2) return x;
        return x.transposed(layout == Layout::swapped ? -2 : 0, -1).clone();
    }
    if (x.rank() < 1) return x;
    Shape shape = x.shape();
    shape.back() *= 2;
    Array<double> wide = normal(shape, 99);
    for (std::size_t i = 0; i < x.size(); ++i) wide.data()[2 * i] = x.data()[i];
    return wide;
}

// The view of a laid_out() array that equals x.
Tensor<double> view_of(const Tensor<double>& x, Layout layout) {
    if (layout == Layout::every_second) return x.rank() < 1 ? x : slice(x, -1, 0, x.dim(-1), 2);
    return x.rank() < 2 ? x : transpose(x, layout == Layout::swapped ? -2 : 0, -1);
}

}  // namespace

CaseInputs::CaseInputs(const std::string& text, Domain numbers, Nan spread) : shapes(1), domain(numbers), nan(spread) {
    for (const char* at = text.c_str(); *at;) {
        if (*at == ' ') {
            ++at;
        } else if (*at == '|') {
            ++at, shapes.emplace_back();
        } else if (*at == '(') {
            at += 2, shapes.back().emplace_back();
        } else {
            Shape shape;
            do {
                std::size_t size = 0;
                at = std::from_chars(*at == 'x' ? at + 1 : at, text.data() + text.size(), size).ptr;
                shape.push_back(size);
            } while (*at == 'x');
            shapes.back().push_back(shape);
        }
    }
}

std::vector<Array<double>> CaseInputs::at(std::size_t list) const {
    std::vector<Array<double>> all;
    for (const Shape& shape : shapes[list]) {
        const bool above = domain == Domain::positive || (domain == Domain::positive_first && all.empty());
        Array<double> x = normal(shape, 31 + all.size());
        x = above ? positive(x) : away_from_zero(x);
        for (double& v : x) v = static_cast<float>(v);
        all.push_back(x);
    }
    return all;
}

double gradient_error(const OpCase<double>& row) {
    double worst = 0;
    const auto check_at = [&](const Function& f, const std::vector<Array<double>>& at) {
        worst = std::max(worst, gradient_error(f, at));
    };
    for (std::size_t list = 0; list < row.inputs.shapes.size(); ++list) {
        const std::vector<Array<double>> at = row.inputs.at(list);
        std::size_t elements = 0, rank = 0;
        for (const auto& x : at) elements += x.size(), rank = std::max(rank, x.rank());
        check_at(row.function, at);
        if (elements > 1000) continue;
        for (const Layout layout : {Layout::swapped, Layout::reversed, Layout::every_second}) {
            if (rank < (layout == Layout::swapped ? 2u : layout == Layout::reversed ? 3u : 1u)) continue;
            std::vector<Array<double>> stored;
            for (const auto& x : at) stored.push_back(laid_out(x, layout));
            const auto of_views = [&](const Inputs& in) {
                Inputs views;
                for (const auto& x : in) views.push_back(view_of(x, layout));
                return row.function(views);
            };
            check_at(of_views, stored);
        }
        const auto& shapes = row.inputs.shapes[list];
        if (at.size() < 2 || std::adjacent_find(shapes.begin(), shapes.end(), std::not_equal_to<>()) != shapes.end())
            continue;
        const auto of_one = [&](const Inputs& in) { return row.function(Inputs(at.size(), in[0])); };
        check_at(of_one, {at[0]});
    }
    return worst;
}

double second_gradient_error(const OpCase<double>& row) {
    const Inputs leaves = leaves_at(row.inputs.at(0));
    return second_gradient_error([&] { return row.function(leaves); }, leaves);
}

template <class T>
std::vector<OpCase<T>> op_cases() {
    std::vector<OpCase<T>> all;
    for (const auto& family :
         {elementwise_cases<T>(), row_cases<T>(), shape_cases<T>(), product_cases<T>(), composed_cases<T>()})
        all.insert(all.end(), family.begin(), family.end());
    return all;
}

std::vector<GradcheckRow> gradcheck_ops() {
    std::vector<GradcheckRow> ops;
    std::map<std::string, std::shared_ptr<std::vector<OpCase<double>>>> rows_of;
    for (const OpCase<double>& row : op_cases<double>()) {
        auto& rows = rows_of[row.op()];
        if (!rows) {
            rows = std::make_shared<std::vector<OpCase<double>>>();
            const auto worst_of = [rows](double (*error)(const OpCase<double>&)) {
                return [rows, error] {
                    double worst = 0;
                    for (const auto& r : *rows) worst = std::max(worst, error(r));
                    return worst;
                };
            };
            ops.push_back({row.op(), worst_of(&gradient_error)});
            ops.push_back({row.op() + ", twice", worst_of(&second_gradient_error)});
        }
        rows->push_back(row);
    }
    return ops;
}

IdArray some_ids(const Shape& shape, std::size_t below) {
    IdArray result(shape);
    for (std::size_t i = 0; i < result.size(); ++i)
        result.data()[i] = static_cast<std::int32_t>((i * i + 3 * i) % below);
    return result;
}

MaskArray some_mask(const Shape& shape) {
    MaskArray mask(shape);
    for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = i % 3 == 1;
    return mask;
}

template std::vector<OpCase<float>> op_cases<float>();
template std::vector<OpCase<double>> op_cases<double>();

}  // namespace inkling
