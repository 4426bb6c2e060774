// The built-in corpus: very short stories, written by a small probabilistic grammar (words.cpp,
// rules.cpp), so that a model can be trained without any data, and so that the lowest possible loss on it is
// known exactly.
//   const std::string text = generate_stories(1337, 2'000'000);     // whole stories, a blank line after each
//   is_story("Once there was a small fox named Pip. ...")           // can the grammar write this?
//   stories_entropy().nats_per_char                                 // no model's expected loss is lower
// A story is a line of ASCII without its end. Names, things and pronouns stay consistent within it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace inkling::data {

// Story number `index` of a seed: the same on every machine.
std::string generate_story(std::uint64_t seed, std::uint64_t index);

// The same story, a question about it, and the answer, which the story gives.
struct StoryQuestion {
    std::string story, question, answer;
};
StoryQuestion story_question(std::uint64_t seed, std::uint64_t index);

// Stories 0, 1, 2, ... of a seed, each followed by "\n\n", up to the first that makes the text at least `bytes` long.
std::string generate_stories(std::uint64_t seed, std::size_t bytes);

// Whether the grammar can write exactly this story.
bool is_story(std::string_view story);

// Entropy of the grammar, exact: the expectation of -log p(story), and that over the expected length of a story with
// its separator, which is the entropy rate of the endless text that generate_stories begins.
struct StoryEntropy {
    double nats_per_story = 0;
    double nats_per_char = 0;
    double bits_per_char = 0;
    double mean_chars = 0;  // the blank line included
};

StoryEntropy stories_entropy();

}  // namespace inkling::data
