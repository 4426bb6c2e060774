#include "train/parameter_role.h"

#include <algorithm>
#include <initializer_list>

namespace inkling::train {
namespace {

bool has_any(const std::string& name, std::initializer_list<const char*> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const char* part) { return name.find(part) != std::string::npos; });
}

}  // namespace

double RoleRates::of(Role role) const {
    switch (role) {
        case Role::embedding:
            return embedding;
        case Role::head:
            return head;
        case Role::matrix:
            return matrix;
        case Role::vector:
            return vector;
    }
    return 1;
}

Role role_of(const std::string& name, const Shape& shape) {
    if (shape.size() < 2) return Role::vector;
    if (has_any(name, {"lm_head"})) return Role::head;
    if (shape.size() > 2 || has_any(name, {"wte", "wpe", "embed"})) return Role::embedding;
    return Role::matrix;
}

std::size_t rows_of_block(const std::string& name, const Shape& shape, std::size_t head_size) {
    const bool packed = has_any(name, {"c_attn."});
    const bool projects_heads = packed || has_any(name, {"q_proj.", "k_proj.", "v_proj."});
    if (projects_heads && head_size > 0 && shape[0] % head_size == 0) return head_size;
    return packed && shape[0] % 3 == 0 ? shape[0] / 3 : shape[0];
}

}  // namespace inkling::train
