// The first step of a tokenizer: changes to the text, before it is split.
//   const Normalizer normalizer({{.kind = NormalizerStep::Kind::prepend, .content = "_"}});
//   normalizer("Hello");   // "_Hello"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/split/pattern.h"

namespace inkling::data {

struct NormalizerStep {
    enum class Kind { nfc, lowercase, replace, prepend, strip };
    Kind kind = Kind::nfc;
    PatternSpec pattern = {};          // of replace
    std::string content = {};          // of replace and prepend (of a text that is not empty)
    bool left = false, right = false;  // of strip: the ends whose white space is dropped
    bool operator==(const NormalizerStep&) const = default;
};

class Normalizer {
  public:
    // Throws BadInput for patterns that are not supported, and for a text that becomes too long.
    explicit Normalizer(std::vector<NormalizerStep> steps);

    bool empty() const { return steps_.empty(); }

    // Whether a text may be cut between a letter and white space, both ASCII, and its parts normalized separately.
    bool may_be_cut() const;

    std::string operator()(std::string_view text) const;

  private:
    std::vector<NormalizerStep> steps_;
    std::vector<Pattern> patterns_;  // of the steps that replace, in order
};

// Every match replaced. Bytes that are not UTF-8 stay, and are in no match. Throws BadInput for a result of more than
// `limit` bytes.
std::string replaced(std::string_view text, const Pattern& pattern, std::string_view content, std::size_t limit);

// How long steps may make a text of this size: a file must not ask for much memory.
constexpr std::size_t growth_limit(std::size_t size) { return 64 * (size + 1024); }

}  // namespace inkling::data
