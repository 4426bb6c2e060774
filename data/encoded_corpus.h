// The ids of a corpus, concatenated, 2 bytes each where the vocabulary allows. Each document stands between the marks
// that the tokenizer puts around a text (Llama's begin-of-text token, say), and between two, if none are put behind
// one, the end-of-text token; if there is none of these, a document whose last line has no newline is followed by one.
//   const EncodedCorpus corpus = encode_corpus(tokenizer, documents, {.cache = "runs/mine"});
//   corpus.ids                                                  // valid as long as `corpus`
// The ids of a large corpus are written to a file in the cache folder and mapped, so they may be larger than memory,
// and the next start finds them. KEY in its name, tokens-KEY.bin, is a hash of the documents and the tokenizer; its
// checksum is verified before it is used, and a damaged file is replaced.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/token_view.h"
#include "data/tokenizers/tokenizer.h"
#include "formats/files/file.h"

namespace inkling::data {

struct EncodeOptions {
    std::function<std::string(std::size_t document)> name = nullptr;            // for messages
    std::filesystem::path cache = {};                                           // created when needed; empty: no file
    std::size_t cache_from = 64 << 20;                                          // bytes of text
    std::function<void(std::size_t done, std::size_t all)> progress = nullptr;  // bytes of text
    bool marks = true;                                                          // around each document
};

// A growing array of ids. realloc extends large blocks in place or remaps their pages; a std::vector would hold the old
// and the new block at the same time.
class GrowingIds {
  public:
    explicit GrowingIds(std::size_t vocab_size = SIZE_MAX) : bytes_each_(id_bytes(vocab_size)) {}
    void append(std::span<const std::int32_t> more);
    TokenView ids() const { return {data_.get(), size_, bytes_each_}; }

  private:
    struct Free {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::size_t bytes_each_;
    std::unique_ptr<std::byte, Free> data_;
    std::size_t size_ = 0, room_ = 0;
};

struct EncodedCorpus {
    EncodedCorpus() = default;
    EncodedCorpus(EncodedCorpus&&) = default;
    EncodedCorpus& operator=(EncodedCorpus&&) = default;

    TokenView ids;
    std::size_t bytes = 0;    // of text that was encoded, as it is with unknown characters replaced
    bool from_cache = false;  // the ids were read from the cache

    // Where the ids are stored: one of these.
    GrowingIds owned = GrowingIds();
    formats::MappedFile file = {};
};

// Throws BadInput, naming the source, for a text that the tokenizer cannot write.
EncodedCorpus encode_corpus(const Tokenizer& tokenizer, const std::vector<std::string_view>& documents,
                            const EncodeOptions& options = {});

}  // namespace inkling::data
