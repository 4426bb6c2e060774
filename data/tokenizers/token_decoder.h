// The last step of a tokenizer: tokens to text.
//   const TokenDecoder decoder({{.kind = DecoderStep::Kind::replace, .pattern = {"\u2581", true}, .content = " "},
//                               {.kind = DecoderStep::Kind::fuse}});
//   decoder({"Hello", "\u2581world"}, true);               // "Hello world"
#pragma once

#include <string>
#include <vector>

#include "data/tokenizers/split/pattern.h"
#include "data/tokenizers/split/pre_tokenizer.h"

namespace inkling::data {

struct DecoderStep {
    enum class Kind { byte_level, replace, byte_fallback, fuse, strip, metaspace };
    Kind kind = Kind::byte_level;
    PatternSpec pattern = {};                       // of replace
    std::string content = {};                       // of replace; the character of strip; the sign of metaspace
    std::size_t start = 0, stop = 0;                // of strip: how many such characters it takes from each end
    PrependScheme prepend = PrependScheme::always;  // of metaspace, which takes its signs from the first token
    bool split = true;                              // of metaspace; without effect
    bool operator==(const DecoderStep&) const = default;
};

class TokenDecoder {
  public:
    // Throws BadInput for patterns that are not supported.
    explicit TokenDecoder(std::vector<DecoderStep> steps);

    // `begins`: no tokens come before these; only then is anything taken from the beginning. Bytes, which need not be
    // UTF-8.
    std::string operator()(std::vector<std::string> tokens, bool begins) const;

  private:
    std::vector<DecoderStep> steps_;
    std::vector<Pattern> patterns_;  // of the steps that replace, in order
};

}  // namespace inkling::data
