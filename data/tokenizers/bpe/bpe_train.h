// Trains a byte-level BPE tokenizer: the most frequent pair of neighbours becomes one token, repeatedly. Vocabulary,
// merges and ids equal those of the `tokenizers` library:
//   BpeTrainer(vocab_size=N, initial_alphabet=ByteLevel.alphabet(), special_tokens=["<|endoftext|>"],
//              max_token_length=65536)
// trained on whole texts.
//   const BpeTokenizer tokenizer(train_bpe(texts, 8192));
#pragma once

#include <span>
#include <string_view>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/split/pre_tokenizer.h"

namespace inkling::data {

// <|endoftext|> and the 256 bytes.
inline constexpr std::size_t smallest_bpe_vocab = 257;

// The longest token in bytes. Without a limit, a long run of one character would become one token.
inline constexpr std::size_t max_bpe_token_length = 65536;

// `vocab_size` tokens, or fewer if no pair is left. Throws Error if `vocab_size` is too small.
BpeSpec train_bpe(std::span<const std::string_view> texts, std::size_t vocab_size, SplitStyle style = SplitStyle::gpt2);

}  // namespace inkling::data
