// Finds paragraph starts in a sequence of ids: its start, after a blank line, and after an end-of-text token.
//   const Paragraphs paragraphs(tokenizer);
//   paragraphs.begins(ids, i)   // whether ids[i] starts a paragraph
#pragma once

#include <cstdint>
#include <vector>

#include "data/token_view.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

class Paragraphs {
  public:
    explicit Paragraphs(const Tokenizer& tokenizer);

    // i < ids.size(), and ids are the tokenizer's.
    bool begins(TokenView ids, std::size_t i) const;

  private:
    struct LineEnds {
        std::uint8_t count = 0;  // line feeds at the end of the token, ignoring carriage returns
        bool alone = false;      // the token has no other characters
    };
    std::vector<LineEnds> line_ends_;  // by id
};

}  // namespace inkling::data
