// The attention weights of one prompt in every head of every layer, and what the model would say after each layer, with
// printable token labels and a colour scale.
//   const AttentionMap map = attention_map("out", model, tokenizer, prompt);
//   map.weight({0, 3}, 7, 2);   // layer 0, head 3: how much token 7 attends to token 2
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"

namespace inkling::web {

struct HeadIndex {
    std::size_t layer, head;  // from 0
};

struct AttentionMap {
    std::string model;                // name shown in pictures
    std::vector<std::string> tokens;  // labels
    std::size_t layers, heads;
    // The lower triangle of each head, row by row, layer by layer (causal weights are 0 above it). Empty for a head
    // that was not requested.
    std::vector<std::vector<float>> triangles;
    // The logit lens: the likeliest next token after each token, were this layer the last; [layer][token].
    struct Guess {
        std::string token;
        float probability;
    };
    std::vector<std::vector<Guess>> lens = {};

    // The position of a weight on the colour scale, in [0, 1]: weight ^ exponent(), the same for all heads so that they
    // compare. A row of n weights sums to 1, so the typical weight 1 / n is put at a fifth of the scale, or at its
    // square root if that is higher.
    double exponent() const;
    double position(double weight) const;

    std::span<const float> triangle(HeadIndex at) const { return triangles[at.layer * heads + at.head]; }
    std::span<const float> row(HeadIndex at, std::size_t query) const {
        return triangle(at).subspan(query * (query + 1) / 2, query + 1);
    }
    float weight(HeadIndex at, std::size_t query, std::size_t key) const {
        return key <= query ? row(at, query)[key] : 0.0f;
    }
};

// Throws BadInput if the prompt is empty, longer than the model's context, or cannot be encoded.
AttentionMap attention_map(std::string name, const models::Transformer<float>& model, const data::Tokenizer& tokenizer,
                           std::string_view prompt, std::optional<HeadIndex> only = std::nullopt);

// Makes a text visible: spaces as ␣, line ends as ↵, tabs as ⇥, control characters as their pictures, and other
// invisible bytes and characters (parts of a character, direction marks) by number.
std::string visible(std::string_view text);

struct Colour {
    std::uint8_t red, green, blue;
};

// Viridis (van der Walt and Smith, 2015): perceptually uniform, also to colour-blind readers and in grey.
inline constexpr std::array<Colour, 10> kScale = {{{68, 1, 84},
                                                   {72, 40, 120},
                                                   {62, 73, 137},
                                                   {49, 104, 142},
                                                   {38, 130, 142},
                                                   {31, 158, 137},
                                                   {53, 183, 121},
                                                   {110, 206, 88},
                                                   {181, 222, 43},
                                                   {253, 231, 37}}};

Colour scale_colour(double position);  // in [0, 1]

// Weights that the legends label.
inline constexpr std::array<double, 5> kLegend = {0, 0.01, 0.05, 0.25, 1};

}  // namespace inkling::web
