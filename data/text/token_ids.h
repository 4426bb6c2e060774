// Training data that is token ids already, for models whose alphabet is not text: NumPy's .npy, one axis of integers,
// and .bin, uint16 for vocabularies of at most 65,536 and uint32 for larger ones, both little endian.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace inkling::data {

bool names_token_ids(std::string_view path);  // by its ending

// How ids are stored.
struct IdLayout {
    std::size_t bytes = 0;  // of an id; 0: as the vocabulary needs
    bool has_sign = false;
};
struct StoredIds {
    std::string_view bytes;
    IdLayout layout;
};

// The ids in a file's content. Throws BadInput, naming the path, for anything else.
StoredIds find_token_ids(std::string_view file, const std::string& path);

// Calls take() with blocks of the ids. Throws BadInput for an id outside of the vocabulary.
void each_token_id(const StoredIds& stored, std::size_t vocab_size,
                   const std::function<void(std::span<const std::int32_t>)>& take);

}  // namespace inkling::data
