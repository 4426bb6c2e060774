// The ids of a corpus, as one row. A tokenizer that has an end of text writes it between two documents; with others a
// document that does not end its last line is followed by a line's end.
//   const EncodedCorpus corpus = encode_corpus(tokenizer, documents, {.cache = "runs/mine"});
//   corpus.ids                                                  // as long as `corpus`
// The ids of a large corpus are written to a file of that folder as they are made, and mapped: they may be more than
// memory holds, and are there the next time. The file, tokens-KEY.bin, is found by the content of the documents and of
// the tokenizer, and checked whole before it is used: one that is damaged is made anew.
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

#include "data/tokenizers/tokenizer.h"
#include "formats/file.h"

namespace inkling::data {

struct EncodeOptions {
    std::span<const std::string> sources = {};  // names of the documents, for messages
    std::filesystem::path cache = {};           // made when it is needed; empty: no file
    std::size_t cache_from = 64 << 20;          // bytes of text
    std::function<void(std::size_t done, std::size_t all)> progress = nullptr;  // bytes of text
};

// Ids that become more. Large blocks of memory grow in place, or are moved by the system without copying: a vector
// would hold the old ones and the new ones for a moment.
class GrowingIds {
  public:
    void append(std::span<const std::int32_t> more);
    std::span<const std::int32_t> ids() const { return {data_.get(), size_}; }

  private:
    struct Free {
        void operator()(std::int32_t* p) const { std::free(p); }
    };
    std::unique_ptr<std::int32_t, Free> data_;
    std::size_t size_ = 0, room_ = 0;
};

struct EncodedCorpus {
    EncodedCorpus() = default;
    EncodedCorpus(EncodedCorpus&&) = default;
    EncodedCorpus& operator=(EncodedCorpus&&) = default;

    std::span<const std::int32_t> ids;
    std::size_t bytes = 0;    // of text that the ids stand for
    bool from_cache = false;  // the ids were there already

    // What keeps the ids.
    GrowingIds owned = {};
    formats::MappedFile file = {};
};

// Throws BadInput, naming the source, for a text that the tokenizer cannot write.
EncodedCorpus encode_corpus(const Tokenizer& tokenizer, const std::vector<std::string_view>& documents,
                            const EncodeOptions& options = {});

}  // namespace inkling::data
