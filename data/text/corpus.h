// Training text: files, folders and standard input, one document per file or per record of a table.
//   const Corpus corpus = read_corpus({"notes.txt", "books/", "logs/*.gz", "-"}, {.exclude = {"*.log"}});
//   const Dataset text = make_dataset(corpus, tokenizer);                   // dataset.h
// A corpus may be larger than memory: see text_source.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/content_hash.h"
#include "data/text/examples.h"
#include "data/text/text_source.h"
#include "data/text/token_ids.h"

namespace inkling::data {

struct CorpusOptions {
    std::vector<std::string> exclude = {};  // patterns (folders.h)
    std::string text_field = {}, text_column = {};
    bool lossy = false, skip_bad_lines = false;
};

struct Corpus {
    std::vector<std::string_view> documents;
    std::vector<std::string> sources;  // files; "-" as "standard input"
    std::vector<std::size_t> first;    // the first document of each source
    // The examples of .jsonl files (examples.h); `documents` then holds their texts. Null for plain text.
    std::shared_ptr<const std::vector<Example>> examples;
    std::vector<IdLayout> ids;  // of each document, if the documents are token ids (token_ids.h); else empty

    std::map<std::string, std::size_t> skipped;  // number of files by reason
    std::string first_skipped;                   // the path of the first
    std::size_t replaced = 0;                    // bytes that were not UTF-8
    std::string first_replaced;                  // where
    std::size_t empty_records = 0, bad_lines = 0;
    std::string first_bad_line;  // its error and place

    std::size_t bytes() const;
    std::string skipped_list() const;                        // "skipped 12 files: 10 binary, 2 in .git"; "" if none
    std::vector<std::string> notes() const;                  // lines for the user about skipped or replaced text
    std::string name() const;                                // for messages: the sources, or the first and their number
    std::string source_of(std::size_t document) const;       // "a.jsonl: record 3"
    std::string place_of(const Example& example) const;      // "a.jsonl: line 3"
    std::uint64_t hash() const { return content_.value(); }  // of the documents, or of the examples' whole content

    // A source whose documents follow. `owner` keeps their text alive; this corpus and its copies hold on to it.
    void begin_source(std::shared_ptr<const void> owner, std::string source);
    void add_document(std::string_view text);
    void add_document(std::string_view text, std::uint64_t hash_of_text);
    void add(std::string text, std::string source);  // a source of one document
    void add_ids(const StoredIds& stored);           // a document of token ids
    void take_examples(std::vector<Example> all);    // of the sources added so far

  private:
    std::vector<std::shared_ptr<const void>> owners_;
    ContentHash content_;
};

// Returns 8 MB of the built-in stories (stories/stories.h).
Corpus stories_corpus();

// A path is a UTF-8 file, also one that gzip or zstd compressed, a FIFO, a folder, a pattern such as "books/*.txt", or
// "-" for standard input. In a folder, all regular files below it are read in the order of their paths, except hidden
// ones (also below hidden folders), empty ones, binary ones, those that are not UTF-8 or damaged, and runs of Inkling.
// A byte order mark is dropped, line ends are kept. Files that end in .jsonl hold documents (documents.h), and so do
// those that end in .json, and standard input that begins with an object or a list of them; they cannot be mixed with
// other text. In a folder, other .json files are skipped. Files named .npy or .bin hold token ids. Throws
// BadInput, naming the path: missing, unreadable, empty, binary, not UTF-8, a folder without text, a pattern that
// nothing matches, JSON that holds no documents. `standard_input`: what "-" stands for, when it is given.
Corpus read_corpus(const std::vector<std::string>& paths, const CorpusOptions& options = {},
                   const ReadSome& standard_input = nullptr);

}  // namespace inkling::data
