// The exact entropy of a story grammar, for the constant of stories.h: walks the grammar along every choice at once,
// and sums what each adds to the expected -log p and to the expected length. By the chain rule the entropy of a
// derivation is the expected sum of the entropies of its choices, and a story has just one derivation.
#pragma once

#include "data/stories/grammar.h"

namespace inkling::testing {

// The expectation of -log p(story), and that over the expected length of a story with its separator, which is the
// entropy rate of the endless text that generate_stories begins.
struct StoryEntropy {
    double nats_per_story = 0, nats_per_char = 0;
    double mean_chars = 0;  // the blank line included
};

// The variables mentioned so far, and the probability of that. This is enough, since choices do not depend on
// values, so a mentioned variable has any of its values with equal probability, whatever else was chosen.
using Mentioned = std::map<std::vector<bool>, double>;

class EntropyWalk {
    using Piece = data::StoryGrammar::Piece;
    using StoryGrammar = data::StoryGrammar;

  public:
    explicit EntropyWalk(const StoryGrammar& grammar) : grammar_(grammar) {}

    StoryEntropy entropy() {
        expand(0, {{std::vector<bool>(grammar_.value_counts.size()), 1.0}});
        const double chars = chars_ + 2;  // the blank line
        return {nats_, nats_ / chars, chars};
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

inline StoryEntropy grammar_entropy(const data::StoryGrammar& grammar) { return EntropyWalk(grammar).entropy(); }

}  // namespace inkling::testing
