// The first step of a tokenizer: rewrites the text before it is split.
//   normalized("Hello", {{.kind = NormalizerStep::Kind::prepend, .content = "_"}});   // "_Hello"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/split/pattern.h"
#include "engine/base/names.h"

namespace inkling::data {

struct NormalizerStep {
    enum class Kind { nfc, lowercase, replace, prepend, strip };
    Kind kind = Kind::nfc;
    Pattern pattern = {};              // for replace
    std::string content = {};          // for replace, and for prepend (unless the text is empty)
    bool left = false, right = false;  // for strip: the ends to strip
    bool operator==(const NormalizerStep&) const = default;
};

// As in tokenizer.json.
constexpr auto names(NormalizerStep::Kind) {
    using Kind = NormalizerStep::Kind;
    return name_table<Kind>({{Kind::nfc, "NFC"},
                             {Kind::lowercase, "Lowercase"},
                             {Kind::replace, "Replace"},
                             {Kind::prepend, "Prepend"},
                             {Kind::strip, "Strip"}});
}

// Throws BadInput for a result that is too long.
std::string normalized(std::string_view text, const std::vector<NormalizerStep>& steps);

// Whether a text may be cut between an ASCII letter and ASCII white space and its parts normalized separately.
bool may_be_cut(const std::vector<NormalizerStep>& steps);

// Replaces every match. Bytes that are not UTF-8 are kept and never match. Throws BadInput if the result exceeds
// `limit` bytes.
std::string replaced(std::string_view text, const Pattern& pattern, std::string_view content, std::size_t limit);

// The longest result allowed for a text of this size, so that a file cannot demand much memory.
constexpr std::size_t growth_limit(std::size_t size) { return 64 * (size + 1024); }

}  // namespace inkling::data
