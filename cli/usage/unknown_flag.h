// --strict-vocabulary: characters that a model does not know end the command; by default they are replaced and counted.
#pragma once

#include "cli/common.h"
#include "cli/log.h"
#include "data/tokenizers/tokenizer.h"
#include "train/setup.h"

namespace inkling::cli {

inline constexpr const char* kStrictHelp = "refuse characters that the model does not know, instead of replacing them";

using train::take_unknown;

// Reports on stderr what was replaced since the last call.
inline void say_replaced(data::Tokenizer& tokenizer) {
    if (!tokenizer.unknown) return;
    if (const std::string note = tokenizer.unknown->note(); !note.empty()) spdlog::info("{}", note);
    take_unknown(tokenizer, false);
}

}  // namespace inkling::cli
