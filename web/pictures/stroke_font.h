// Letters as lines, for pictures made of pixels: they need no font on the machine that draws them, and keep their shape
// at any size. ASCII, the accented letters of Latin-1 and the marks of visible() (map.h); any other character is a box
// with its number.
//   const StrokeText text = stroke_text("token");
//   for (const Stroke& s : text.strokes) line(s.x0, s.y0, s.x1, s.y1);   // units: a capital is 21 high
#pragma once

#include <string_view>
#include <vector>

namespace inkling::web {

struct Stroke {
    double x0, y0, x1, y1;  // from the left end of the text, y downwards from the middle of a capital
};

struct StrokeText {
    std::vector<Stroke> strokes;
    double width = 0;
};

inline constexpr double kCapitalHeight = 21;

StrokeText stroke_text(std::string_view text);

}  // namespace inkling::web
