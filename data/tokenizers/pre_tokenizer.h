// The first half of a byte-level tokenizer: splits text into pieces, in which byte pairs are merged.
//   const PreTokenizer pre({});                            // as GPT-2
//   PreTokenizer::Scan scan(pre);                          // one per thread
//   scan.pieces("Hello world!", [](std::string_view p) {});  // "Hello" " world" "!"
// A byte that is not UTF-8 is a piece of its own; the text between two such bytes is split separately.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/gpt2_split.h"
#include "data/tokenizers/regex.h"
#include "formats/utf8.h"

namespace inkling::data {

// What tokenizer.json says under pre_tokenizer: a ByteLevel, after any number of Splits.
struct PreTokenizerSpec {
    struct Split {
        std::string pattern;
        bool literal = false;       // a text to look for, not a regular expression
        bool matches_only = false;  // "Removed" with "invert": what lies between two matches is dropped
        bool operator==(const Split&) const = default;
    };
    std::vector<Split> splits = {};
    bool add_prefix_space = false;  // before pieces of the splits that do not begin with one
    bool gpt2_pattern = true;       // "use_regex"
    bool operator==(const PreTokenizerSpec&) const = default;
};

class PreTokenizer {
  public:
    // Throws BadInput for patterns that are not supported.
    explicit PreTokenizer(PreTokenizerSpec spec);

    const PreTokenizerSpec& spec() const { return spec_; }

    // Whether texts may be cut at gpt2_safe_cut.
    bool may_be_cut() const { return spec_.splits.empty() && spec_.gpt2_pattern && !spec_.add_prefix_space; }

    class Scan {
      public:
        explicit Scan(const PreTokenizer& pre);

        // take(piece) in the order of the text, whose bytes the pieces are together (unless a split drops some). They
        // are parts of `text`, or valid during the call alone where a space is put before them. Throws BadInput when a
        // pattern needs more steps than so long a text may take.
        template <class Take>
        void pieces(std::string_view text, const Take& take);

      private:
        // The text's beginning up to the first byte that is not UTF-8.
        static std::string_view valid_run(std::string_view text);
        void allow_steps(std::size_t text_size);
        std::optional<Regex::Match> find(std::size_t stage, std::string_view text, std::size_t from);
        template <class Take>
        void split(std::string_view text, std::size_t stage, const Take& take);
        std::string_view with_prefix(std::string_view piece);
        template <class Take>
        void gpt2_pieces(std::string_view text, const Take& take);

        const PreTokenizer& pre_;
        std::optional<Regex::Scan> gpt2_;
        std::vector<std::optional<Regex::Scan>> splits_;  // none: a literal
        std::string prefixed_;                            // a piece with a space before it
    };

  private:
    PreTokenizerSpec spec_;
    std::optional<Regex> gpt2_;
    std::vector<std::optional<Regex>> splits_;  // none: a literal
};

template <class Take>
void PreTokenizer::Scan::pieces(std::string_view text, const Take& take) {
    const bool plain = splits_.empty() && !pre_.spec_.add_prefix_space;
    allow_steps(text.size());
    for (std::size_t done = 0; done < text.size();) {
        const std::string_view run = valid_run(text.substr(done));
        if (run.empty()) {  // and no pattern sees it: they are for UTF-8 alone
            take(text.substr(done++, 1));
            continue;
        }
        const bool prefix = pre_.spec_.add_prefix_space && (done == 0 || !splits_.empty());
        done += run.size();
        if (plain) {
            gpt2_pieces(run, take);
            continue;
        }
        split(run, 0, [&](std::string_view piece) { gpt2_pieces(prefix ? with_prefix(piece) : piece, take); });
    }
}

template <class Take>
void PreTokenizer::Scan::split(std::string_view text, std::size_t stage, const Take& take) {
    if (stage == splits_.size()) return take(text);
    const bool keep_between = !pre_.spec_.splits[stage].matches_only;
    std::size_t at = 0;
    while (at < text.size()) {
        const auto match = find(stage, text, at);
        const std::size_t begin = match ? match->begin : text.size();
        if (begin > at && keep_between) split(text.substr(at, begin - at), stage + 1, take);
        if (!match) break;
        split(text.substr(begin, match->end - begin), stage + 1, take);
        at = match->end;
    }
}

template <class Take>
void PreTokenizer::Scan::gpt2_pieces(std::string_view text, const Take& take) {
    if (!gpt2_) return take(text);
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = gpt2_ascii_piece_end(text, at);
        if (end == 0) end = gpt2_->find(text, at)->end;  // the pattern matches at every character
        take(text.substr(at, end - at));
        at = end;
    }
}

}  // namespace inkling::data
