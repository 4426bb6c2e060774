#include "data/tokenizers/split/split_styles.h"

#include "data/tokenizers/split/pre_tokenizer.h"
#include "data/tokenizers/split/split_patterns.h"

namespace inkling::data {

PreTokenizerSpec pre_tokenizer_of(SplitStyle style) {
    if (style == SplitStyle::gpt2) return {};
    const std::string_view pattern = style == SplitStyle::llama3  ? llama3_pattern
                                     : style == SplitStyle::qwen2 ? qwen2_pattern
                                                                  : nanochat_pattern;
    return {.steps = {SplitStep{.pattern = {std::string(pattern)}}, ByteLevelStep{.gpt2_pattern = false}}};
}

}  // namespace inkling::data
