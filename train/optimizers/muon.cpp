#include "train/optimizers/muon.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/profile.h"
#include "engine/kernels/lanes.h"
#include "train/optimizers/decayed.h"
#include "train/optimizers/newton_schulz.h"

namespace inkling::train {
namespace {

constexpr std::size_t kAlikeInAnyBatch = 1 << 16;  // multiply-adds of a product

// The rows of each map stacked in a matrix: query, key and value if one matrix packs them, or each of their heads if
// heads are split.
template <class Entry>
std::size_t rows_of_map(const Entry& entry, bool split_heads) {
    const std::size_t rows = entry.parameter.shape()[0];
    return split_heads && entry.kind.head_size > 0 ? entry.kind.head_size : rows / entry.kind.stacked;
}

// Scales all rows of a matrix to the same length and keeps the matrix's norm. NorMuon (Li et al. 2025) divides rows by
// their mean length over steps; the length in this step works as well and needs no state (bench/recipes.md).
template <class T>
void equalize_rows(Array<T>& matrices) {
    const std::size_t R = matrices.dim(1), C = matrices.dim(2), rows = matrices.dim(0) * R;
    std::vector<double> lengths(rows);
    parallel_rows(rows, C, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
            lengths[r] = std::sqrt(static_cast<double>(simd_dot(C, matrices.data() + r * C, matrices.data() + r * C)));
        }
    });
    std::vector<double> common(matrices.dim(0));  // of each matrix
    for (std::size_t i = 0; i < common.size(); ++i) {
        const double* const of = lengths.data() + i * R;
        common[i] = std::sqrt(std::inner_product(of, of + R, of, 0.0) / static_cast<double>(R));
    }
    parallel_rows(rows, C, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
            const Vec<T> scale(static_cast<T>(common[r / R] / (lengths[r] + 1e-7)));
            T* const row = matrices.data() + r * C;
            simd_map(C, row, {row}, [=](auto v) { return v * scale; });
        }
    });
}

double scale_of(MuonScale scale, double rows, double columns) {
    if (scale == MuonScale::adamw) return 0.2 * std::sqrt(std::max(rows, columns));
    return std::sqrt(std::max(1.0, rows / columns));
}

}  // namespace

template <class T>
Muon<T>::Muon(nn::FlatParameters<T>& parameters, const MuonOptions& options, const Ranges* own)
    : Optimizer<T>(parameters),
      options_(options),
      others_(
          parameters, options.adamw, [](const Entry& entry) { return !is_matrix_of_muon(entry); }, own) {
    check_option("Muon: momentum", options.momentum);
    check_option("Muon: weight_decay", options.weight_decay);
    const auto is_own = [&](const Entry& entry) {
        return !own || std::any_of(own->begin(), own->end(),
                                   [&](const Range& r) { return entry.offset >= r.begin && entry.offset < r.end; });
    };
    for (std::size_t i = 0; i < parameters.entries().size(); ++i) {
        const Entry& entry = parameters.entries()[i];
        if (!is_matrix_of_muon(entry) || !is_own(entry)) continue;
        const Shape& shape = entry.parameter.shape();
        const std::size_t rows = rows_of_map(entry, options.split_heads);
        // With `own`, a result must not depend on which other matrices are in the group: in bfloat16, small products
        // are summed in another order alone than in a batch (engine/array/gemm.cpp).
        const std::size_t M = std::min(rows, shape[1]);
        const bool alone = own && M * M * M < kAlikeInAnyBatch;
        auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
            return !alone && g.shape[1] == rows && g.shape[2] == shape[1];
        });
        if (group == groups_.end()) {
            groups_.push_back({{0, rows, shape[1]}, {}, {}});
            group = groups_.end() - 1;
        }
        group->shape[0] += shape[0] / rows;
        group->entries.push_back(i);
    }
    for (Group& group : groups_) group.momentum = Array<T>(group.shape, T{0});
}

template <class T>
auto Muon<T>::state() -> std::vector<State> {
    std::vector<State> all = others_.state();
    for (Group& group : groups_) {
        T* momentum = group.momentum.data();
        for (const std::size_t i : group.entries) {
            const Entry& entry = parameters_.entries()[i];
            const std::size_t size = entry.parameter.size();
            all.push_back({"muon.momentum", momentum, {entry.offset, entry.offset + size}});
            momentum += size;
        }
    }
    return all;
}

template <class T>
template <class Body>
void Muon<T>::over(const Group& group, const Body& body) const {
    parallel_pieces(group.momentum.size(), [&](std::size_t begin, std::size_t end) {
        std::size_t at = 0;  // the parameter's offset in the group
        for (const std::size_t i : group.entries) {
            const Entry& entry = parameters_.entries()[i];
            const std::size_t next = at + entry.parameter.size();
            const std::size_t first = std::max(begin, at), last = std::min(end, next);
            if (first < last && parameters_.is_reached(i)) body(entry.offset + first - at, first, last - first);
            at = next;
        }
    });
}

template <class T>
void Muon<T>::step(double learning_rate, double gradient_scale) {
    others_.updates = this->updates;
    others_.missed = this->missed;
    this->count_update(learning_rate);
    others_.step(learning_rate, gradient_scale);
    const auto vec = [](double x) { return Vec<T>(static_cast<T>(x)); };
    const Vec<T> scale = vec(gradient_scale), mu = vec(options_.momentum), one_less_mu = vec(1 - options_.momentum),
                 keep = vec(1 - learning_rate * options_.weight_decay);
    Array<T>& values = parameters_.values();
    values.count_write();
    const T* const g = parameters_.gradients().data();
    for (Group& group : groups_) {
        profile::count_bytes(static_cast<double>(7 * group.momentum.size() * sizeof(T)));
        T* const m = group.momentum.data();
        const bool all = std::all_of(group.entries.begin(), group.entries.end(),
                                     [&](std::size_t i) { return parameters_.is_reached(i); });
        Array<T> u = all ? Array<T>(group.shape) : Array<T>(group.shape, T{0});
        over(group, [&](std::size_t from, std::size_t at, std::size_t n) {
            simd_map(n, m + at, {m + at, g + from},
                     [=](auto mean, auto grad) { return multiply_add(grad * scale - mean, one_less_mu, mean); });
            if (options_.nesterov) {
                simd_map(n, u.data() + at, {m + at, g + from},
                         [=](auto mean, auto grad) { return multiply_add(mu, mean, one_less_mu * (grad * scale)); });
            } else {
                std::copy_n(m + at, n, u.data() + at);
            }
        });
        Array<T> direction = newton_schulz(u, options_.ns_steps, options_.coefficients);
        if (options_.scale == MuonScale::rows) equalize_rows(direction);
        const double length =
            scale_of(options_.scale, static_cast<double>(group.shape[1]), static_cast<double>(group.shape[2]));
        const Vec<T> rate = vec(learning_rate * length);
        const bool cautious = options_.cautious;
        over(group, [&](std::size_t to, std::size_t at, std::size_t n) {
            T* const p = values.data() + to;
            const auto update = [=](auto value, auto step) { return decayed(value, keep, rate * step, cautious); };
            simd_map(n, p, {p, direction.data() + at}, update);
        });
    }
}

template class Muon<float>;
template class Muon<double>;

}  // namespace inkling::train
