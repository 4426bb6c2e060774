// What a parameter is for, told from its name and shape; the one place where optimizers learn it.
#pragma once

#include <string>

#include "engine/array.h"

namespace inkling::train {

enum class Role {
    embedding,  // a table that ids look rows up in, or that adds a row to each position; a tied head is one too
    head,       // a head of its own
    matrix,     // from activations to activations
    vector,     // gains, biases, scalars
};

// A learning rate for each role, as a multiple of one that they share.
struct RoleRates {
    double embedding = 1, head = 1, matrix = 1, vector = 1;
    double of(Role role) const;
};

Role role_of(const std::string& name, const Shape& shape);

// Rows of the blocks that a matrix (rows, columns) is stacked from: query, key and value are three maps also where one
// weight packs them (c_attn), and with `head_size` above 0 each of their heads is one of its own.
std::size_t rows_of_block(const std::string& name, const Shape& shape, std::size_t head_size);

}  // namespace inkling::train
