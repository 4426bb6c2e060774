// The exact probability of a story: walks the grammar as the generator does, but along every choice that agrees with
// the text.
#include <algorithm>
#include <map>

#include "data/stories/grammar.h"
#include "data/stories/stories.h"

namespace inkling::data {

namespace {

using Piece = StoryGrammar::Piece;

// The position of a walk in the text, and its variables (-1: not mentioned yet).
struct Place {
    std::size_t offset = 0;
    std::vector<int> values;
    auto operator<=>(const Place&) const = default;
};

// All walks that agree with the text so far; those at the same place are merged.
using Walks = std::map<Place, StoryDerivations>;

class Parser {
  public:
    Parser(const StoryGrammar& grammar, std::string_view story) : grammar_(grammar), story_(story) {}

    // Sums over all ways to write the whole story.
    StoryDerivations parse() const {
        const Walks start{{Place{0, std::vector<int>(grammar_.value_counts.size(), -1)}, StoryDerivations{1, 1}}};
        StoryDerivations whole;
        for (const auto& [place, weight] : expand(0, start))
            if (place.offset == story_.size()) merge(whole, weight);
        return whole;
    }

  private:
    static void merge(StoryDerivations& into, const StoryDerivations& from) {
        into.probability += from.probability;
        into.derivations += from.derivations;
    }

    bool matches(const Place& place, std::string_view word) const {
        return story_.substr(place.offset).starts_with(word);
    }

    Walks expand(std::size_t rule_index, const Walks& start) const {
        const StoryGrammar::Rule& rule = grammar_.rules[rule_index];
        Walks ends;
        for (const StoryGrammar::Alternative& alternative : rule.alternatives) {
            Walks walks = start;
            for (auto piece = alternative.pieces.begin(); piece != alternative.pieces.end() && !walks.empty(); ++piece)
                walks = advance(*piece, walks);
            for (auto [place, weight] : walks) {
                weight.probability *= alternative.weight / static_cast<double>(rule.total_weight);
                merge(ends[place], weight);
            }
        }
        return ends;
    }

    Walks advance(const Piece& piece, const Walks& walks) const {
        if (piece.kind == Piece::rule) return expand(piece.index, walks);
        Walks next;
        for (const auto& [place, weight] : walks) {
            if (piece.kind == Piece::field) {
                mention(grammar_.fields[piece.index], place, weight, next);
            } else if (matches(place, piece.letters)) {
                merge(next[{place.offset + piece.letters.size(), place.values}], weight);
            }
        }
        return next;
    }

    void mention(const StoryGrammar::Field& field, const Place& place, const StoryDerivations& weight,
                 Walks& next) const {
        const int known = place.values[field.variable];
        const int count = static_cast<int>(field.words.size());
        for (int value = std::max(known, 0); value < (known < 0 ? count : known + 1); ++value) {
            const std::string& word = field.words[static_cast<std::size_t>(value)];
            if (!matches(place, word)) continue;
            Place after{place.offset + word.size(), place.values};
            after.values[field.variable] = value;
            merge(next[after], {known < 0 ? weight.probability / count : weight.probability, weight.derivations});
        }
    }

    const StoryGrammar& grammar_;
    const std::string_view story_;
};

}  // namespace

StoryDerivations parse_story(const StoryGrammar& grammar, std::string_view story) {
    return Parser(grammar, story).parse();
}

bool is_story(std::string_view story) { return parse_story(story_grammar(), story).derivations > 0; }

}  // namespace inkling::data
