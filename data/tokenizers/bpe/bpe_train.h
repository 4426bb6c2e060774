// Learns a byte-level BPE tokenizer from texts: the most frequent pair of neighbours becomes one token, again and
// again. Vocabulary, merges and ids are those of the `tokenizers` library:
//   BpeTrainer(vocab_size=N, initial_alphabet=ByteLevel.alphabet(), special_tokens=["<|endoftext|>"],
//              max_token_length=65536)
// fed with each text whole.
//   const BpeTokenizer tokenizer(train_bpe(texts, 8192));
#pragma once

#include <span>
#include <string_view>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/split/split_styles.h"

namespace inkling::data {

// <|endoftext|> and the 256 bytes.
inline constexpr std::size_t smallest_bpe_vocab = 257;

// The limit of a token's length in bytes: a run of one character, which is one piece, would otherwise become one token.
inline constexpr std::size_t max_bpe_token_length = 65536;

struct BpeTraining {
    SplitStyle style = SplitStyle::gpt2;
    std::int64_t min_frequency = 0;  // of a pair that is merged; at least once
};

// `vocab_size` tokens, or fewer when no pair is left. Throws Error for a vocabulary that is too small.
BpeSpec train_bpe(std::span<const std::string_view> texts, std::size_t vocab_size, const BpeTraining& training = {});

}  // namespace inkling::data
