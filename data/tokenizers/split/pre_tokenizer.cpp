#include "data/tokenizers/split/pre_tokenizer.h"

#include <fmt/format.h>

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "data/tokenizers/split/split_patterns.h"
#include "data/tokenizers/unicode_additions.h"
#include "engine/base/check.h"

namespace inkling::data {

namespace {

std::string range(char32_t first, char32_t last) {
    return fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last));
}

// Punctuation is ASCII's, symbols included, and Unicode's as of version 8, without later additions.
std::string punctuation() {
    std::string newer =
        R"(\x{61D}\x{9FD}\x{A76}\x{C77}\x{C84}\x{1B7D}\x{1B7E}\x{2E43}-\x{2E49}\x{2E4A}-\x{2E4F}\x{2E52}-\x{2E5D})"
        R"(\x{10EAD}\x{10F55}-\x{10F59}\x{10F86}-\x{10F89}\x{1144B}-\x{1144F}\x{1145A}\x{1145B}\x{1145D})"
        R"(\x{11660}-\x{1166C}\x{116B9}\x{1183B}\x{11944}-\x{11946}\x{119E2}\x{11A3F}-\x{11A46}\x{11A9A}-\x{11A9C})"
        R"(\x{11A9E}-\x{11AA2}\x{11C41}-\x{11C45}\x{11C70}\x{11C71}\x{11EF7}\x{11EF8}\x{11FFF}\x{12FF1}\x{12FF2})"
        R"(\x{16E97}-\x{16E9A}\x{16FE2}\x{1E95E}\x{1E95F})";
    for (const UnicodeRange& r : unicode_additions)
        if (r.category[0] == 'P') newer += range(r.first, r.last);
    return fmt::format(R"((?![{}])[!-/:-@\[-`{{-~\p{{P}}\x{{166D}}\x{{111C9}}])", newer);
}

// The pattern of a step; nullopt for ByteLevel without a pattern.
std::optional<Pattern> pattern_of(const PreTokenizerStep& step) {
    if (const auto* const metaspace = std::get_if<MetaspaceStep>(&step)) return Pattern(metaspace->sign, true);
    if (const auto* const bytes = std::get_if<ByteLevelStep>(&step))
        return bytes->gpt2_pattern ? std::optional<Pattern>(gpt2_pattern) : std::nullopt;
    using Kind = SplitStep::Kind;
    const auto& split = std::get<SplitStep>(step);
    if (split.kind == Kind::pattern) return split.pattern;
    // The built-in patterns need few steps on any text.
    const std::string word = word_class;
    const std::string text = split.kind == Kind::digits  // Unicode 17's included
                                 ? R"([\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}])"
                                 : split.kind == Kind::punctuation ? punctuation()
                                   : split.kind == Kind::words     ? word + "+|[^\\s" + word.substr(1) + "+"
                                                                   : R"(\s)";
    return Pattern(text, false, Regex::Steps::free);
}

}  // namespace

const ByteLevelStep* PreTokenizerSpec::byte_level() const {
    for (const PreTokenizerStep& step : steps)
        if (const auto* const found = std::get_if<ByteLevelStep>(&step)) return found;
    return nullptr;
}

PreTokenizer::PreTokenizer(PreTokenizerSpec spec) : spec_(std::move(spec)) {
    for (const PreTokenizerStep& step : spec_.steps) patterns_.push_back(pattern_of(step));
    const ByteLevelStep* const bytes = spec_.byte_level();
    plain_ = bytes && bytes->gpt2_pattern && spec_.steps.size() == 1 && !bytes->add_prefix_space;
    letters_ = bytes && !std::holds_alternative<ByteLevelStep>(spec_.steps.back());
}

// True if a step that cuts between letters and white space comes before all steps that see more than a few characters.
bool PreTokenizer::may_be_cut() const {
    for (std::size_t i = 0; i < spec_.steps.size(); ++i) {
        if (const auto* const bytes = std::get_if<ByteLevelStep>(&spec_.steps[i]))
            return bytes->gpt2_pattern && !bytes->add_prefix_space;
        const auto* const split = std::get_if<SplitStep>(&spec_.steps[i]);
        if (!split) return false;
        const bool contiguous = split->behavior == SplitBehavior::contiguous;
        const bool isolated = split->behavior == SplitBehavior::isolated && !split->invert;
        const bool known = split->kind == SplitStep::Kind::pattern && !split->pattern.literal() && isolated;
        if (known && is_word_split(split->pattern.text())) return true;
        const bool signs = split->kind == SplitStep::Kind::digits || split->kind == SplitStep::Kind::punctuation;
        if (!(signs && (isolated || contiguous)) && !(known && is_known_split(split->pattern.text()))) return false;
    }
    return false;
}

PreTokenizer::Scan::Scan(const PreTokenizer& pre) : pre_(pre), patterns_(pre.patterns_.size()) {
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (pre.patterns_[i]) patterns_[i].emplace(*pre.patterns_[i]);
    }
}

void PreTokenizer::Scan::step(std::string_view text, std::size_t stage, Place place, const TakePiece& take) {
    if (stage == pre_.spec_.steps.size()) return pre_.letters_ ? take(*from_byte_letters(text)) : take(text);
    const PreTokenizerStep& what = pre_.spec_.steps[stage];
    if (std::holds_alternative<SplitStep>(what)) return split(text, stage, place, take);
    if (std::holds_alternative<MetaspaceStep>(what)) return metaspace(text, stage, place, take);
    byte_level(text, stage, place, take);
}

void PreTokenizer::Scan::split(std::string_view text, std::size_t stage, Place place, const TakePiece& take) {
    const auto& spec = std::get<SplitStep>(pre_.spec_.steps[stage]);
    cut(text, *patterns_[stage], spec.behavior, spec.invert, [&](std::string_view piece) {
        const bool begins = piece.data() == text.data();
        step(piece, stage + 1, {begins && place.begins, begins && place.first}, take);
    });
}

void PreTokenizer::Scan::metaspace(std::string_view text, std::size_t stage, Place place, const TakePiece& take) {
    const auto& spec = std::get<MetaspaceStep>(pre_.spec_.steps[stage]);
    std::string changed;
    changed.reserve(text.size() + text.size() / 2);
    const bool signs = text.starts_with(' ') || text.starts_with(spec.sign);
    const bool prepends = spec.prepend == PrependScheme::always  ? stage > 0 || place.begins
                          : spec.prepend == PrependScheme::first ? place.first
                                                                 : false;
    if (prepends && !signs) changed = spec.sign;
    for (const char c : text) c == ' ' ? changed += spec.sign : changed += c;
    const auto next = [&](std::string_view piece) { step(piece, stage + 1, {false, false}, take); };
    if (!spec.split) return next(changed);
    cut(changed, *patterns_[stage], SplitBehavior::merged_with_next, false, next);
}

void PreTokenizer::Scan::byte_level(std::string_view text, std::size_t stage, Place place, const TakePiece& take) {
    const auto& spec = std::get<ByteLevelStep>(pre_.spec_.steps[stage]);
    std::string prefixed;
    if (spec.add_prefix_space && (stage > 0 || place.begins) && !text.starts_with(' ')) {
        prefixed.assign(1, ' ').append(text);
        text = prefixed;
    }
    const auto next = [&](std::string_view piece) {
        pre_.letters_ ? step(to_byte_letters(piece), stage + 1, {false, false}, take) : take(piece);
    };
    patterns_[stage] ? gpt2_pieces(text, *patterns_[stage], next) : next(text);
}

// Joins neighbouring pieces, depending on which of the waiting piece and the next piece are matches.
void PreTokenizer::Scan::cut(std::string_view text, Pattern::Scan& matches, SplitBehavior behavior, bool invert,
                             const TakePiece& take) {
    const auto joined = [behavior](bool waiting, bool next) {
        switch (behavior) {
            case SplitBehavior::merged_with_previous:
                return !waiting && next;
            case SplitBehavior::merged_with_next:
                return waiting && !next;
            case SplitBehavior::contiguous:
                return waiting == next;
            default:
                return false;
        }
    };
    std::string_view waiting;
    bool waiting_matches = false;
    const auto add = [&](std::size_t begin, std::size_t end, bool match) {
        if (begin == end || (match && behavior == SplitBehavior::removed)) return;
        const std::string_view piece = text.substr(begin, end - begin);
        if (!waiting.empty() && joined(waiting_matches, match)) {
            waiting = {waiting.data(), waiting.size() + piece.size()};
        } else {
            if (!waiting.empty()) take(waiting);
            waiting = piece;
        }
        waiting_matches = match;
    };
    for (std::size_t at = 0; at < text.size();) {
        const auto match = matches.find(text, at);
        const std::size_t begin = match ? match->begin : text.size(), end = match ? match->end : text.size();
        add(at, begin, invert);
        add(begin, end, !invert);
        at = end;
    }
    if (!waiting.empty()) take(waiting);
}

PreTokenizerSpec pre_tokenizer_of(SplitStyle style) {
    if (style == SplitStyle::gpt2) return {};
    const std::string_view pattern = style == SplitStyle::llama3  ? llama3_pattern
                                     : style == SplitStyle::qwen2 ? qwen2_pattern
                                                                  : nanochat_pattern;
    return {.steps = {SplitStep{.pattern = {std::string(pattern)}}, ByteLevelStep{.gpt2_pattern = false}}};
}

}  // namespace inkling::data
