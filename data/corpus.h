// Text to train on: files, folders and standard input, joined into one UTF-8 string.
//   const Corpus corpus = read_corpus({"notes.txt", "books/", "-"});
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer.h"

namespace inkling::data {

struct Corpus {
    std::string text;
    std::vector<std::string> sources;  // the files that were read, in the order of the text; "-" as "standard input"
    std::vector<std::string> skipped;  // files in folders that hold no UTF-8 text
    std::vector<std::size_t> starts;   // of the sources in the text

    std::vector<std::string_view> documents() const;  // the sources' texts, which together are `text`
    std::string skipped_note() const;                 // one line for the user; "" when nothing was skipped
};

// A path is a UTF-8 file, a folder, or "-" for standard input. Of a folder, all regular files below it are read in the
// order of their paths, except hidden ones (also below hidden folders), empty ones, and those with NUL bytes or that
// are not UTF-8. Sources are joined with a newline where the one before does not end in one. A byte order mark is
// dropped, line ends are kept. Throws BadInput, naming the path: missing, unreadable, empty, not UTF-8, a folder
// without text.
Corpus read_corpus(const std::vector<std::string>& paths);

// The same, with another stream for "-".
Corpus read_corpus(const std::vector<std::string>& paths, std::istream& standard_input);

// The ids of the whole text. A tokenizer that has an end of text writes it between two documents.
std::vector<std::int32_t> encode_documents(const Tokenizer& tokenizer, const std::vector<std::string_view>& documents);

}  // namespace inkling::data
