// The story grammar, ready to walk. It is written as text (words.cpp, rules.cpp):
//   a rule is a list of alternatives with whole-number weights; it takes one with probability weight / sum;
//   <name> in an alternative is replaced by what the rule of that name writes;
//   {field} is replaced by that field of a variable. A variable takes one of its values, all equally likely, where the
//   story first mentions any field of it, and keeps it to the end: {hero} "Mia", {he} "she", {his} "her". {He} is {he}
//   with a capital.
// Which alternative is taken never depends on the values of variables: the entropy of the stories rests on that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"

namespace inkling::data {

// The grammar as text.
struct AlternativeText {
    unsigned weight;
    std::string_view text;
};
struct RuleText {
    std::string_view name;
    std::vector<AlternativeText> alternatives;
};
struct VariableText {
    std::vector<std::string_view> fields;
    std::vector<std::vector<std::string_view>> values;  // each with all fields
};
std::vector<RuleText> story_rules();  // the first rule writes a whole story
std::vector<VariableText> story_variables();

// The compiled grammar.
struct StoryGrammar {
    struct Piece {
        enum Kind { text, field, rule } kind;
        std::string letters;    // of text
        std::size_t index = 0;  // of a field or rule
    };
    struct Alternative {
        unsigned weight;
        std::vector<Piece> pieces;
    };
    struct Rule {
        unsigned total_weight = 0;
        std::vector<Alternative> alternatives;
    };
    struct Field {
        std::size_t variable;
        std::vector<std::string> words;  // one per value
    };
    std::vector<Rule> rules;
    std::vector<Field> fields;
    std::vector<std::size_t> value_counts;  // by variable
};

// Throws Error for an undefined rule or field.
StoryGrammar compile_grammar(const std::vector<RuleText>& rules, const std::vector<VariableText>& variables);

// Compiled at the first call.
const StoryGrammar& story_grammar();

// A story of this grammar, sampled with the random numbers of a key. `values`: which value each variable took, SIZE_MAX
// for one that is not mentioned.
std::string write_story(const StoryGrammar& grammar, const RandomKey& key, std::vector<std::size_t>* values = nullptr);

// The probability of exactly this text, and its number of derivations. That must be 1 for every story: the entropy is
// of derivations and would be too large otherwise.
struct StoryDerivations {
    double probability = 0;
    std::uint64_t derivations = 0;
};
StoryDerivations parse_story(const StoryGrammar& grammar, std::string_view story);

}  // namespace inkling::data
