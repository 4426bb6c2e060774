// Pictures of attention weights: heatmaps with the queries as rows, the keys as columns and the tokens as labels.
//   write_file_atomic("heads.svg", svg_picture(map, std::nullopt));   // the grid: layers are rows, heads columns
//   write_file_atomic("head.png", png_picture(map, HeadIndex{0, 3}));      // one head, large
//   print(terminal_picture(map, HeadIndex{0, 3}, terminal));
//   print(number_table(map, HeadIndex{0, 3}, 80));                         // in so many columns
// draw() lays a picture out, once for all kinds; a Surface is what it is drawn on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/attention/map.h"

namespace inkling::cli {

// Lengths in pixels, the origin at the top left.
class Surface {
  public:
    virtual ~Surface() = default;
    virtual void resize(double width, double height) = 0;  // once, before all else; white
    virtual void rectangle(double x, double y, double width, double height, Colour colour) = 0;
    // The lower triangle of squares, row by row, with its top left corner at (x, y), as positions on the colour scale.
    virtual void triangle(double x, double y, double cell, std::span<const double> positions) = 0;

    enum class Anchor { start, middle, end };
    struct Text {
        double x, y, size;  // y: the middle of the line
        Anchor anchor = Anchor::start;
        Colour colour = {32, 33, 36};
        bool upwards = false;  // read from the bottom to the top, anchored along the vertical
    };
    virtual void text(const Text& how, std::string_view what) = 0;
    virtual double text_width(std::string_view text, double size) const = 0;
};

void draw(Surface& surface, const AttentionMap& map, std::optional<HeadIndex> only);

std::string svg_picture(const AttentionMap& map, std::optional<HeadIndex> only);
std::string png_picture(const AttentionMap& map, std::optional<HeadIndex> only);

struct Terminal {
    std::size_t columns = 80;
    bool colour = false;  // 256 colours for backgrounds; otherwise block characters
};
std::string terminal_picture(const AttentionMap& map, HeadIndex at, const Terminal& terminal);

// Three digits of each weight.
std::string number_table(const AttentionMap& map, HeadIndex at, std::size_t columns);

}  // namespace inkling::cli
