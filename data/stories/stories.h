// The built-in corpus: very short stories, written by a small probabilistic grammar (words.cpp,
// rules.cpp), so that a model can be trained without any data, and so that the lowest possible loss on it is
// known exactly.
//   const std::string text = generate_stories(1337, 2'000'000);     // whole stories, a blank line after each
//   is_story("Once there was a small fox named Pip. ...")           // can the grammar write this?
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

// The entropy of the stories, blank lines included: no model's expected loss is lower. A test computes it from the
// grammar (tests/data/stories/entropy.h).
inline constexpr double stories_nats_per_char = 0.11003622488968166;

}  // namespace inkling::data
