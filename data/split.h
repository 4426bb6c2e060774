// The last part of a text is kept for validation, as nanoGPT does:
//   const auto [train, val] = split_tokens(tokens, 0.1);
#pragma once

#include "data/token_view.h"

namespace inkling::data {

// Views of the split tokens, which must outlive them.
struct Split {
    TokenView train, val;
};

// The first floor(n (1 - val_fraction)) tokens are for training. Throws Error unless 0 <= val_fraction < 1.
Split split_tokens(TokenView tokens, double val_fraction);

}  // namespace inkling::data
