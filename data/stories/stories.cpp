#include "data/stories/stories.h"

#include "data/stories/grammar.h"

namespace inkling::data {

namespace {

// Streams of this file: "stor" in ASCII, then the number of the story.
constexpr std::uint64_t first_story = 0x73746F72ull << 32;
constexpr std::uint64_t first_question = 0x71756573ull << 32;  // "ques": which question is asked of each story

// Writes one story: samples every choice, in the order of the text.
class Writer {
  public:
    Writer(const StoryGrammar& grammar, const RandomKey& key) : grammar_(grammar), key_(key) {}

    std::string write(std::vector<std::size_t>* values) {
        expand(0);
        if (values) *values = std::move(values_);
        return std::move(story_);
    }

  private:
    void expand(std::size_t rule_index) {
        const StoryGrammar::Rule& rule = grammar_.rules[rule_index];
        std::uint64_t left = random_below(key_, choices_++, rule.total_weight);
        auto taken = rule.alternatives.begin();
        for (; left >= taken->weight; ++taken) left -= taken->weight;
        for (const StoryGrammar::Piece& piece : taken->pieces) {
            if (piece.kind == StoryGrammar::Piece::text) story_ += piece.letters;
            if (piece.kind == StoryGrammar::Piece::rule) expand(piece.index);
            if (piece.kind == StoryGrammar::Piece::field) mention(grammar_.fields[piece.index]);
        }
    }

    void mention(const StoryGrammar::Field& field) {
        constexpr std::size_t none = -1;
        values_.resize(grammar_.value_counts.size(), none);
        std::size_t& value = values_[field.variable];
        if (value == none) value = random_below(key_, choices_++, field.words.size());
        story_ += field.words[value];
    }

    const StoryGrammar& grammar_;
    const RandomKey key_;
    std::uint64_t choices_ = 0;
    std::vector<std::size_t> values_;  // by variable
    std::string story_;
};

}  // namespace

std::string write_story(const StoryGrammar& grammar, const RandomKey& key, std::vector<std::size_t>* values) {
    return Writer(grammar, key).write(values);
}

std::string generate_story(std::uint64_t seed, std::uint64_t index) {
    return write_story(story_grammar(), {seed, first_story + index});
}

StoryQuestion story_question(std::uint64_t seed, std::uint64_t index) {
    const RandomKey key{seed, first_story + index};
    std::vector<std::size_t> values;
    StoryQuestion q;
    q.story = write_story(story_grammar(), key, &values);
    const std::vector<VariableText> variables = story_variables();
    const auto word = [&](std::string_view field) {
        for (std::size_t v = 0; v < variables.size(); ++v)
            if (variables[v].fields[0] == field) return std::string(variables[v].values[values.at(v)][0]);
        return std::string();
    };
    const std::string hero = word("hero"), kind = word("kind"), color = word("color"), toy = word("toy"),
                      helper = word("helper");  // every story mentions these
    const StoryQuestion all[] = {{"", "Who is the story about?", "It is about " + hero + "."},
                                 {"", "What animal is " + hero + "?", hero + " is the " + kind + "."},
                                 {"", "What color is the " + toy + "?", "The " + toy + " is " + color + "."},
                                 {"", "What thing is in the story?", "It is the " + toy + "."},
                                 {"", "Whom did " + hero + " meet?", hero + " met the " + helper + "."}};
    const StoryQuestion& chosen = all[random_below({seed, first_question}, index, std::size(all))];
    q.question = chosen.question;
    q.answer = chosen.answer;
    return q;
}

std::string generate_stories(std::uint64_t seed, std::size_t bytes) {
    std::string text;
    text.reserve(bytes + 1024);
    for (std::uint64_t index = 0; text.size() < bytes; ++index) text += generate_story(seed, index) + "\n\n";
    return text;
}

}  // namespace inkling::data
