// The attention weights of one prompt, in every head of every layer, and what all pictures of them share: printable
// token labels and the colour scale.
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
    std::string model;                // as the pictures call it
    std::vector<std::string> tokens;  // labels
    std::size_t layers, heads;
    // The lower triangle of each head, row by row, heads of a layer side by side: causal weights are 0 above it. Empty
    // where another head alone was asked for.
    std::vector<std::vector<float>> triangles;

    // Where a weight stands on the colour scale, in [0, 1]: weight ^ exponent(), the same for every head, so that heads
    // can be compared. A row of n weights sums to 1, so most are of the size of 1 / n: that lies at a fifth of the
    // scale, or at its square root if this is higher.
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

// Throws BadInput when the prompt is empty, longer than the model's context, or has what the tokenizer cannot write.
AttentionMap attention_map(std::string name, const models::Transformer<float>& model, const data::Tokenizer& tokenizer,
                           std::string_view prompt, std::optional<HeadIndex> only = std::nullopt);

// A text with its spaces as ␣, line ends as ↵, tabs as ⇥, other control characters as their pictures, and what else
// cannot be seen (bytes of part of a character, marks of direction) by number.
std::string visible(std::string_view text);

// Weights that the legends name.
inline constexpr std::array<double, 5> kLegend = {0, 0.01, 0.05, 0.25, 1};

}  // namespace inkling::web
