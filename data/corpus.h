// Text to train on: files, folders and standard input, one document each.
//   const Corpus corpus = read_corpus({"notes.txt", "books/", "-"});
//   const EncodedCorpus ids = encode_corpus(tokenizer, corpus.documents);   // encoded_corpus.h
// A corpus may be larger than memory: see text_source.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_source.h"

namespace inkling::data {

struct Corpus {
    std::vector<std::string_view> documents;
    std::vector<std::string> sources;  // of the documents: the files; "-" as "standard input"
    std::vector<std::string> skipped;  // files in folders that hold no UTF-8 text

    std::size_t bytes() const;
    std::string skipped_note() const;  // one line for the user; "" when nothing was skipped
    std::string name() const;          // for messages: the sources, or the first of them and their number

    // `owner` keeps the text alive; this corpus and its copies hold on to it.
    void add(std::string_view text, std::shared_ptr<const void> owner, std::string source);
    void add(std::string text, std::string source);

  private:
    std::vector<std::shared_ptr<const void>> owners_;
};

// A path is a UTF-8 file, also one that gzip or zstd compressed, a FIFO, a folder, or "-" for standard input. In a
// folder, all regular files below it are read in the order of their paths, except hidden ones (also below hidden
// folders), empty ones, and those with NUL bytes or that are not UTF-8. A byte order mark is dropped, line ends are
// kept. Throws BadInput, naming the path: missing, unreadable, empty, not UTF-8, a folder without text.
// `standard_input`: what "-" stands for, when it is given.
Corpus read_corpus(const std::vector<std::string>& paths, const ReadSome& standard_input = nullptr);

}  // namespace inkling::data
