// The angles of an Architecture's rotary positions, with its scaling for longer contexts.
#pragma once

#include <mutex>
#include <vector>

#include "engine/fused/rotary.h"
#include "models/architecture.h"

namespace inkling::models {

// Position p rotates pair i of a head by p rates[i]; there are rotary_size() / 2. Without those of local layers.
std::vector<double> rotary_rates(const Architecture& architecture);

// The divisors of the rates by RopeScaling, rotary_size() / 2.
std::vector<double> rotary_divisors(const Architecture& architecture);

// For positions start .. start + rows - 1 and the op rotate; undefined if positions are not rotary.
template <class T>
struct RotaryTables {
    ConstArray<T> global, local;  // local shares global's memory if the angles are equal

    RotaryTables() = default;
    RotaryTables(const Architecture& a, std::size_t start, std::size_t rows) {
        if (a.positions != Positions::rotary) return;
        local = global = rotary_table<T>(rotary_rates(a), start, rows, a.rope_clockwise);
        if (a.local_rope_theta == 0) return;
        const std::vector<double> rates = inkling::rotary_rates(a.rotary_size(), a.local_rope_theta);
        local = rotary_table<T>(rates, start, rows, a.rope_clockwise);
    }
    const ConstArray<T>& of(const Architecture& a, std::size_t layer) const {
        return a.is_local(layer) ? local : global;
    }
};

// The tables of a model, which grow as texts do: each angle is computed once.
template <class T>
class RotaryPositions {
  public:
    explicit RotaryPositions(const Architecture& architecture) : architecture_(architecture) {}
    RotaryTables<T> tables(std::size_t start, std::size_t rows);  // from any thread

  private:
    const Architecture architecture_;
    std::mutex mutex_;
    RotaryTables<T> made_;  // of the first positions
};

}  // namespace inkling::models
