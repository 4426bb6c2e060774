// The second step of a tokenizer: splits text into pieces, within which BPE merges.
//   const PreTokenizer pre({});                            // GPT-2's
//   PreTokenizer::Scan scan(pre);                          // one per thread
//   scan.pieces("Hello world!", true, [](std::string_view p) {});  // "Hello" " world" "!"
// A byte that is not UTF-8 is a piece of its own; the text between two of these is split separately.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/tokenizers/split/pattern.h"
#include "data/tokenizers/split/split_patterns.h"
#include "engine/base/names.h"
#include "formats/utf8.h"

namespace inkling::data {

// What a Split does with matches: isolates them, removes them, appends them to the piece before or after, or joins
// adjacent ones.
enum class SplitBehavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

constexpr auto names(SplitBehavior) {
    return name_table<SplitBehavior>({{SplitBehavior::isolated, "Isolated"},
                                      {SplitBehavior::removed, "Removed"},
                                      {SplitBehavior::merged_with_previous, "MergedWithPrevious"},
                                      {SplitBehavior::merged_with_next, "MergedWithNext"},
                                      {SplitBehavior::contiguous, "Contiguous"}});
}

// Split, or a step with a built-in pattern: Digits, Punctuation, Whitespace (words, and runs that are neither word nor
// white space), WhitespaceSplit.
struct SplitStep {
    enum class Kind { pattern, digits, punctuation, words, spaces };
    Kind kind = Kind::pattern;
    Pattern pattern = {};  // of Kind::pattern
    SplitBehavior behavior = SplitBehavior::isolated;
    bool invert = false;  // swaps matches and the rest
    bool operator==(const SplitStep&) const = default;
};

constexpr auto names(SplitStep::Kind) {
    using Kind = SplitStep::Kind;
    return name_table<Kind>({{Kind::pattern, "Split"},
                             {Kind::digits, "Digits"},
                             {Kind::punctuation, "Punctuation"},
                             {Kind::words, "Whitespace"},
                             {Kind::spaces, "WhitespaceSplit"}});
}

// Where Metaspace prepends its sign: each piece, only the text's start, or nowhere.
enum class PrependScheme { always, first, never };

constexpr auto names(PrependScheme) {
    return name_table<PrependScheme>(
        {{PrependScheme::always, "always"}, {PrependScheme::first, "first"}, {PrependScheme::never, "never"}});
}

// Metaspace: a sign for each space, and a split before each sign.
struct MetaspaceStep {
    std::string sign = "\u2581";
    PrependScheme prepend = PrependScheme::always;
    bool split = true;
    bool operator==(const MetaspaceStep&) const = default;
};

// ByteLevel: converts text to byte letters.
struct ByteLevelStep {
    bool add_prefix_space = false;  // to pieces that do not begin with one
    bool gpt2_pattern = true;       // "use_regex"
    bool operator==(const ByteLevelStep&) const = default;
};

using PreTokenizerStep = std::variant<SplitStep, MetaspaceStep, ByteLevelStep>;

// At most one ByteLevel, which excludes Metaspace.
struct PreTokenizerSpec {
    std::vector<PreTokenizerStep> steps = {ByteLevelStep{}};
    bool operator==(const PreTokenizerSpec&) const = default;

    const ByteLevelStep* byte_level() const;  // null: pieces consist of characters
};

class PreTokenizer {
  public:
    explicit PreTokenizer(PreTokenizerSpec spec);

    // Whether texts may be cut at gpt2_safe_cut.
    bool may_be_cut() const;

    class Scan {
      public:
        explicit Scan(const PreTokenizer& pre);

        // Calls take(piece) in text order; pieces cover the text unless a step drops or adds bytes. A piece is part of
        // `text` or valid only during the call. `first`: this is the start of a whole text. Throws BadInput if a
        // pattern exceeds the steps allowed for a text of this length.
        template <class Take>
        void pieces(std::string_view text, bool first, const Take& take);

      private:
        using TakePiece = std::function<void(std::string_view)>;
        struct Place {
            bool begins, first;  // whether a piece begins the text to split, and a whole text
        };
        void step(std::string_view text, std::size_t stage, Place place, const TakePiece& take);
        void split(std::string_view text, std::size_t stage, Place place, const TakePiece& take);
        void metaspace(std::string_view text, std::size_t stage, Place place, const TakePiece& take);
        void byte_level(std::string_view text, std::size_t stage, Place place, const TakePiece& take);
        void cut(std::string_view text, Pattern::Scan& matches, SplitBehavior behavior, bool invert,
                 const TakePiece& take);
        template <class Take>
        void gpt2_pieces(std::string_view text, Pattern::Scan& pattern, const Take& take);

        const PreTokenizer& pre_;
        std::vector<std::optional<Pattern::Scan>> patterns_;  // by step; none: ByteLevel without a pattern
    };

  private:
    PreTokenizerSpec spec_;
    std::vector<std::optional<Pattern>> patterns_;
    bool plain_ = false;    // only GPT-2's pattern
    bool letters_ = false;  // steps follow ByteLevel and see byte letters
};

template <class Take>
void PreTokenizer::Scan::pieces(std::string_view text, bool first, const Take& take) {
    for (auto& pattern : patterns_)
        if (pattern) pattern->allow(text.size());
    const TakePiece each = [&](std::string_view piece) { take(piece); };
    for (std::size_t done = 0; done < text.size();) {
        const std::string_view rest = text.substr(done), run = rest.substr(0, formats::find_invalid_utf8(rest));
        if (run.empty()) {  // patterns do not see it: they need UTF-8
            take(text.substr(done++, 1));
            continue;
        }
        pre_.plain_ ? gpt2_pieces(run, *patterns_[0], take) : step(run, 0, {done == 0, first && done == 0}, each);
        done += run.size();
    }
}

template <class Take>
void PreTokenizer::Scan::gpt2_pieces(std::string_view text, Pattern::Scan& pattern, const Take& take) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = gpt2_ascii_piece_end(text, at);
        if (end == 0) end = pattern.find(text, at)->end;  // the pattern matches at every character
        take(text.substr(at, end - at));
        at = end;
    }
}

// The pre-tokenizers of well-known families, for training tokenizers:
//   const PreTokenizerSpec spec = pre_tokenizer_of(SplitStyle::llama3);

enum class SplitStyle { gpt2, llama3, qwen2, nanochat };

constexpr auto names(SplitStyle) {
    return name_table<SplitStyle>({{SplitStyle::gpt2, "gpt2"},
                                   {SplitStyle::llama3, "llama3"},
                                   {SplitStyle::qwen2, "qwen2"},
                                   {SplitStyle::nanochat, "nanochat"}});
}

PreTokenizerSpec pre_tokenizer_of(SplitStyle style);

}  // namespace inkling::data
