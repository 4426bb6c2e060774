// Compares a model's answers with those of conversations (data/text/examples.h): inkling eval --answers.
//   const Answers found = count_answers(*model, tokenizer, *corpus.examples);      // found.right of found.asked
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "data/text/examples.h"
#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"

namespace inkling::cli {

struct Answers {
    std::size_t asked = 0, right = 0;
};

// Generates the last answer of each conversation at temperature 0, and counts it as right if it matches, apart from
// white space around it. A conversation that does not fit into the context counts as wrong. Calls progress(done) before
// each, done in [0, 1); returning false ends it. Throws BadInput for examples that are not conversations.
Answers count_answers(const models::Transformer<float>& model, const std::shared_ptr<const data::Tokenizer>& tokenizer,
                      const std::vector<data::Example>& examples, const std::function<bool(double done)>& progress);

}  // namespace inkling::cli
