// The last step of a tokenizer: tokens to text.
//   const DecoderStep spaces{.kind = DecoderStep::Kind::replace, .pattern = {"\u2581", true}, .content = " "};
//   decoded({"Hello", "\u2581world"}, {spaces}, true);      // "Hello world"
#pragma once

#include <string>
#include <vector>

#include "data/tokenizers/split/pattern.h"
#include "data/tokenizers/split/pre_tokenizer.h"

namespace inkling::data {

struct DecoderStep {
    enum class Kind { byte_level, replace, byte_fallback, fuse, strip, metaspace };
    Kind kind = Kind::byte_level;
    Pattern pattern = {};                           // for replace
    std::string content = {};                       // for replace; strip's character; metaspace's sign
    std::size_t start = 0, stop = 0;                // for strip: the number of characters to remove at each end
    PrependScheme prepend = PrependScheme::always;  // for metaspace: removes the sign of the first token
    bool split = true;                              // for metaspace; has no effect
    bool operator==(const DecoderStep&) const = default;
};

// As in tokenizer.json.
constexpr auto names(DecoderStep::Kind) {
    using Kind = DecoderStep::Kind;
    return name_table<Kind>({{Kind::byte_level, "ByteLevel"},
                             {Kind::replace, "Replace"},
                             {Kind::byte_fallback, "ByteFallback"},
                             {Kind::fuse, "Fuse"},
                             {Kind::strip, "Strip"},
                             {Kind::metaspace, "Metaspace"}});
}

// `begins`: these are the first tokens; only then do the steps strip the start. Returns bytes that need not be UTF-8.
std::string decoded(std::vector<std::string> tokens, const std::vector<DecoderStep>& steps, bool begins);

}  // namespace inkling::data
