#include "data/stories/grammar.h"

#include <map>

#include "engine/base/check.h"

namespace inkling::data {

namespace {

using Names = std::map<std::string, std::size_t, std::less<>>;
using Piece = StoryGrammar::Piece;

std::string capitalized(std::string word) {
    if (!word.empty() && word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
}

std::size_t look_up(const Names& names, std::string_view name) {
    const auto found = names.find(name);
    check(found != names.end(), "story grammar: there is no rule or field '{}'", name);
    return found->second;
}

// "A <size> {kind}." to text, rule, text, field, text.
std::vector<Piece> compile_template(std::string_view text, const Names& rules, const Names& fields) {
    std::vector<Piece> pieces;
    while (!text.empty()) {
        const std::size_t open = std::min(text.find_first_of("<{"), text.size());
        if (open > 0) pieces.push_back({Piece::text, std::string(text.substr(0, open))});
        text.remove_prefix(open);
        if (text.empty()) break;
        const bool rule = text[0] == '<';
        const std::size_t close = text.find(rule ? '>' : '}');
        check(close != std::string_view::npos, "story grammar: '{}' is not closed", text);
        const std::string_view name = text.substr(1, close - 1);
        pieces.push_back({rule ? Piece::rule : Piece::field, {}, look_up(rule ? rules : fields, name)});
        text.remove_prefix(close + 1);
    }
    return pieces;
}

}  // namespace

StoryGrammar compile_grammar(const std::vector<RuleText>& rules, const std::vector<VariableText>& variables) {
    StoryGrammar grammar;
    Names rule_index, field_index;
    const auto name_it = [](Names& names, const std::string& name) {
        check(names.emplace(name, names.size()).second, "story grammar: the name '{}' is used twice", name);
    };
    for (const RuleText& rule : rules) name_it(rule_index, std::string(rule.name));
    for (const VariableText& variable : variables) {
        for (std::size_t f = 0; f < variable.fields.size(); ++f) {
            StoryGrammar::Field plain{grammar.value_counts.size(), {}}, capital = plain;
            for (const auto& value : variable.values) {
                check(value.size() == variable.fields.size(), "story grammar: '{}' needs {} fields", value[0],
                      variable.fields.size());
                plain.words.emplace_back(value[f]);
                capital.words.push_back(capitalized(plain.words.back()));
            }
            const std::string name(variable.fields[f]);
            name_it(field_index, name);
            name_it(field_index, capitalized(name));
            grammar.fields.push_back(std::move(plain));
            grammar.fields.push_back(std::move(capital));
        }
        grammar.value_counts.push_back(variable.values.size());
    }
    for (const RuleText& rule : rules) {
        StoryGrammar::Rule& compiled = grammar.rules.emplace_back();
        for (const AlternativeText& alternative : rule.alternatives) {
            compiled.total_weight += alternative.weight;
            compiled.alternatives.push_back(
                {alternative.weight, compile_template(alternative.text, rule_index, field_index)});
        }
    }
    return grammar;
}

const StoryGrammar& story_grammar() {
    static const StoryGrammar grammar = compile_grammar(story_rules(), story_variables());
    return grammar;
}

}  // namespace inkling::data
