// Where paragraphs begin in a row of ids: at its beginning, after a blank line, and after an end of text.
//   const Paragraphs paragraphs(tokenizer);
//   paragraphs.begins(ids, i)   // whether ids[i] is the first of one
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

class Paragraphs {
  public:
    explicit Paragraphs(const Tokenizer& tokenizer);

    // i < ids.size(), and ids are the tokenizer's.
    bool begins(std::span<const std::int32_t> ids, std::size_t i) const;

  private:
    struct LineEnds {
        std::uint8_t count = 0;  // of line feeds that the token ends with, carriage returns between them aside
        bool alone = false;      // the token is nothing else
    };
    std::vector<LineEnds> line_ends_;  // by id
};

}  // namespace inkling::data
