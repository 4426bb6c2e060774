// The words of the stories. The values of a variable begin with different letters where they can: a model that has
// learned to copy then needs only the first letter to know which one it is.
#include "data/stories/grammar.h"

namespace inkling::data {

std::vector<VariableText> story_variables() {
    return {
        {{"hero", "he", "him", "his"},
         {{"Anna", "she", "her", "her"},
          {"Ben", "he", "him", "his"},
          {"Cleo", "she", "her", "her"},
          {"Finn", "he", "him", "his"},
          {"Gus", "he", "him", "his"},
          {"Ivy", "she", "her", "her"},
          {"Lily", "she", "her", "her"},
          {"Max", "he", "him", "his"},
          {"Nora", "she", "her", "her"},
          {"Otto", "he", "him", "his"},
          {"Rosa", "she", "her", "her"},
          {"Will", "he", "him", "his"}}},
        {{"kind"}, {{"bear"}, {"cat"}, {"duck"}, {"fox"}, {"mouse"}, {"otter"}, {"pig"}, {"rabbit"}}},
        {{"place"}, {{"brook"}, {"farm"}, {"hill"}, {"lake"}, {"mill"}, {"pond"}, {"sea"}, {"wood"}}},
        {{"nature"}, {{"busy"}, {"friendly"}, {"gentle"}, {"kind"}, {"wise"}}},
        {{"helper"}, {{"badger"}, {"crow"}, {"deer"}, {"frog"}, {"goat"}, {"mole"}, {"owl"}, {"turtle"}}},
        {{"color"}, {{"blue"}, {"green"}, {"red"}, {"white"}, {"yellow"}}},
        {{"toy", "used"},
         {{"ball", "rolled"},
          {"drum", "played"},
          {"hat", "wore"},
          {"kite", "flew"},
          {"lamp", "carried"},
          {"ring", "wore"},
          {"sled", "rode"},
          {"top", "spun"}}},
        {{"wrong"}, {{"in the barn"}, {"under the bed"}, {"behind the stove"}, {"on the roof"}}},
        {{"spot"},
         {{"behind a big stone"}, {"in the tall grass"}, {"near the old gate"}, {"on a tree stump"}, {"under a leaf"}}},
        {{"food"}, {{"a bowl of berries"}, {"a jar of honey"}, {"a slice of pie"}, {"three ripe pears"}}},
    };
}

}  // namespace inkling::data
