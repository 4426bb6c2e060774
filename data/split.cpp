#include "data/split.h"

#include <cmath>

#include "engine/base/check.h"

namespace inkling::data {

Split split_tokens(TokenView tokens, double val_fraction) {
    check(val_fraction >= 0 && val_fraction < 1, "split_tokens: the validation fraction must be in [0, 1), got {}",
          val_fraction);
    const auto n_train = static_cast<std::size_t>(std::floor(static_cast<double>(tokens.size()) * (1 - val_fraction)));
    return {tokens.first(n_train), tokens.subspan(n_train)};
}

}  // namespace inkling::data
