// Makes a corpus of texts named "0.txt", "1.txt", ...; the texts must outlive it.
#pragma once

#include "data/text/corpus.h"

namespace inkling::testing {

inline data::Corpus corpus_of(const std::vector<std::string_view>& documents) {
    data::Corpus corpus;
    for (const std::string_view document : documents) {
        corpus.begin_source(nullptr, fmt::format("{}.txt", corpus.sources.size()));
        corpus.add_document(document);
    }
    return corpus;
}

}  // namespace inkling::testing
