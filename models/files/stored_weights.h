// The weights of a model folder under the family's names and layouts. Errors list everything that does not fit.
//   const auto file = WeightFiles::open(folder);
//   check_weights(architecture, file);
//   load_weights(model, file, {});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/families/family.h"
#include "models/files/folder.h"
#include "models/files/weight_files.h"

namespace inkling::models {

// The rows of x, (outer, from0, from1) in memory, in the order (outer, from1, from0).
template <class E>
Array<E> swap_rows(const ConstArray<E>& x, std::size_t outer, std::size_t from0, std::size_t from1) {
    const std::size_t n = x.size() / (outer * from0 * from1);
    return x.reshaped({outer, from0, from1, n}).transposed(1, 2).clone().reshaped(x.shape());
}

// The beginning of a list of problems, each "; WHAT": a file may hold many thousands of tensors.
std::string shorten_list(std::string problems);

// Throws BadInput for weights that are missing, left over or of another shape than the architecture's. Allocates no
// memory by the architecture, which may claim any size.
void check_weights(const Architecture& a, const WeightFiles& file);
// Whether the file has a head that is not the token table, although the configuration ties them: it is the model's
// then, as in transformers 5.
bool has_own_head(const Architecture& a, const WeightFiles& file);
// The bytes that load_weights takes for the parameters.
std::uint64_t loaded_bytes(const Architecture& a, const WeightFiles& file, WeightStorage storage);
// Loads every parameter of the model; check_weights comes first. Throws BadInput for values that are not finite.
void load_weights(Transformer<float>& model, const WeightFiles& file, WeightStorage storage);
// The same for a model whose parameters stay in the file, until `rows` reads them.
void keep_in_files(Transformer<float>& model, WeightFiles file);
// Writes a model.safetensors, as save_model says.
void save_weights(const std::filesystem::path& path, const Transformer<float>& model, formats::DType type,
                  formats::Sha256* hash);

}  // namespace inkling::models
