// The training data: the concatenated ids of a text, or of examples (examples.h) with a mask of the learned ids.
//   const Dataset text = make_dataset(corpus, tokenizer, {.cache = "runs/mine"});
//   text.ids   text.learn   text.ends
// A large dataset is written to a file in the cache folder and mapped, so it may be larger than memory, and the next
// run reuses it. KEY in its name, tokens-KEY.bin, is a hash of the text, the tokenizer and the options; the file's
// checksum is verified before it is used, and a damaged file is replaced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "data/encode.h"
#include "data/text/corpus.h"
#include "data/token_view.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

struct Dataset {
    TokenView ids = {};                           // 2 bytes each if the vocabulary allows
    std::span<const std::uint8_t> learn = {};     // for examples, per id: whether it is a target; else empty
    std::span<const std::uint64_t> ends = {};     // for examples: each one's end in ids; else empty
    std::size_t bytes = 0;                        // of text, with unknown characters replaced
    std::string fingerprint = {};                 // of ids, learn and ends, for checkpoints
    bool from_cache = false;                      // read from the cache
    std::shared_ptr<const void> owner = nullptr;  // keeps them alive

    Dataset() = default;
    // Views the ids of a plain text, which must outlive it.
    template <class Ids>
    requires std::convertible_to<const Ids&, TokenView> Dataset(const Ids& some) : Dataset(TokenView(some)) {}
    Dataset(TokenView some, std::span<const std::uint8_t> learned = {},
            std::span<const std::uint64_t> example_ends = {});

    bool has_examples() const { return !ends.empty(); }
    std::size_t begin(std::size_t example) const { return example == 0 ? 0 : ends[example - 1]; }
    std::size_t length(std::size_t example) const { return ends[example] - begin(example); }
};

using DatasetsInMemory = std::map<std::uint64_t, Dataset>;  // by KEY

struct DatasetOptions {
    LossOn loss_on = LossOn::completions;
    std::filesystem::path cache = {};       // created when needed; empty: no file
    std::size_t cache_from = 64 << 20;      // bytes of text
    DatasetsInMemory* in_memory = nullptr;  // keeps what was made, for the next call with the same text and tokenizer
    Progress progress = nullptr;
    bool special_tokens = true;  // around each document
};

// Throws BadInput with file and line for text that the tokenizer cannot encode or the chat template refuses.
Dataset make_dataset(const Corpus& corpus, const Tokenizer& tokenizer, const DatasetOptions& options = {});

bool has_conversations(const Corpus& corpus);

}  // namespace inkling::data
