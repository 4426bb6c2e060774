// The exact entropy of the stories: walks the grammar along every choice at once, and sums what each adds to the
// expected -log p and to the expected length. By the chain rule the entropy of a derivation is the expected sum of
// the entropies of its choices, and a story has just one derivation.
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "data/stories/grammar.h"
#include "data/stories/stories.h"

namespace inkling::data {

namespace {

using Piece = StoryGrammar::Piece;

// The variables mentioned so far, and the probability of that. This is enough, since choices do not depend on
// values, so a mentioned variable has any of its values with equal probability, whatever else was chosen.
using Mentioned = std::map<std::vector<bool>, double>;

class EntropyWalk {
  public:
    explicit EntropyWalk(const StoryGrammar& grammar) : grammar_(grammar) {}

    StoryEntropy entropy() {
        expand(0, {{std::vector<bool>(grammar_.value_counts.size()), 1.0}});
        const double chars = chars_ + 2;  // the blank line
        return {nats_, nats_ / chars, nats_ / chars / std::numbers::ln2, chars};
    }

  private:
    static double total(const Mentioned& walks) {
        double sum = 0;
        for (const auto& [mentioned, p] : walks) sum += p;
        return sum;
    }

    Mentioned expand(std::size_t rule_index, const Mentioned& start) {
        const StoryGrammar::Rule& rule = grammar_.rules[rule_index];
        Mentioned ends;
        for (const StoryGrammar::Alternative& alternative : rule.alternatives) {
            const double p = alternative.weight / static_cast<double>(rule.total_weight);
            nats_ -= total(start) * p * std::log(p);
            Mentioned walks = start;
            for (auto& [mentioned, mass] : walks) mass *= p;
            for (const Piece& piece : alternative.pieces) walks = advance(piece, walks);
            for (const auto& [mentioned, mass] : walks) ends[mentioned] += mass;
        }
        return ends;
    }

    Mentioned advance(const Piece& piece, const Mentioned& walks) {
        if (piece.kind == Piece::rule) return expand(piece.index, walks);
        if (piece.kind == Piece::text) {
            chars_ += total(walks) * static_cast<double>(piece.letters.size());
            return walks;
        }
        const StoryGrammar::Field& field = grammar_.fields[piece.index];
        const auto add_size = [](double sum, const std::string& word) {
            return sum + static_cast<double>(word.size());
        };
        const auto count = static_cast<double>(field.words.size());
        chars_ += total(walks) * std::accumulate(field.words.begin(), field.words.end(), 0.0, add_size) / count;
        Mentioned next;
        for (const auto& [mentioned, mass] : walks) {
            if (!mentioned[field.variable]) nats_ += mass * std::log(count);
            std::vector<bool> now = mentioned;
            now[field.variable] = true;
            next[now] += mass;
        }
        return next;
    }

    const StoryGrammar& grammar_;
    double nats_ = 0, chars_ = 0;
};

}  // namespace

StoryEntropy grammar_entropy(const StoryGrammar& grammar) { return EntropyWalk(grammar).entropy(); }

StoryEntropy stories_entropy() { return grammar_entropy(story_grammar()); }

}  // namespace inkling::data
