// The angles of rotary positions as an Architecture has them, which may be scaled for longer contexts.
#pragma once

#include <vector>

#include "engine/ops/rotary.h"
#include "models/architecture.h"

namespace inkling::models {

// Pair i of a head at position p is rotated by p rates[i]: r / 2 of them, r = rotary_size().
std::vector<double> rotary_rates(const Architecture& architecture);
std::vector<double> local_rotary_rates(const Architecture& architecture);  // in local layers

// What RopeScaling divides each of the rates by: r / 2 of them.
std::vector<double> rotary_divisors(const Architecture& architecture);

// Of positions start .. start + rows - 1, for the op rotate; undefined where positions are not rotary.
template <class T>
struct RotaryTables {
    ConstArray<T> global, local;  // local: shares the other's memory where the angles are the same

    RotaryTables() = default;
    RotaryTables(const Architecture& a, std::size_t start, std::size_t rows) {
        if (a.positions != Positions::rotary) return;
        local = global = rotary_table<T>(rotary_rates(a), start, rows, a.rope_clockwise);
        if (a.local_rope_theta > 0) local = rotary_table<T>(local_rotary_rates(a), start, rows, a.rope_clockwise);
    }
    const ConstArray<T>& of(const Architecture& a, std::size_t layer) const {
        return a.is_local(layer) ? local : global;
    }
};

}  // namespace inkling::models
