// A drawing surface with lines, rectangles, text and heatmaps, as SVG or PNG; a picture is laid out once for both.
//   const auto surface = svg_surface("Attention weights");
//   surface->resize(600, 400);
//   surface->text({.x = 24, .y = 34, .size = 20}, "Attention");
//   write_file_atomic("heads.svg", surface->finish());
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/check.h"

namespace inkling::web {

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

struct Point {
    double x, y;
};

// Lengths in pixels, the origin at the top left.
class Surface {
  public:
    virtual ~Surface() = default;
    virtual void resize(double width, double height) = 0;  // call once, first; the background is white
    virtual void rectangle(double x, double y, double width, double height, Colour colour) = 0;
    // The lower triangle of squares, row by row, with its top left corner at (x, y), in positions on the colour scale.
    virtual void triangle(double x, double y, double cell, std::span<const double> positions) = 0;
    virtual void line(std::span<const Point> points, double width, Colour colour, bool dashed = false) = 0;
    virtual void dot(Point centre, double radius, Colour colour) = 0;

    enum class Anchor { start, middle, end };
    struct Text {
        double x, y, size;  // y: the middle of the line
        Anchor anchor = Anchor::start;
        Colour colour = {32, 33, 36};
        bool upwards = false;  // rotated by 90 degrees, anchored vertically
    };
    virtual void text(const Text& how, std::string_view what) = 0;
    virtual double text_width(std::string_view text, double size) const = 0;

    virtual std::string finish() = 0;  // the file
};

struct TooLarge : Error {  // a PNG with too many pixels
    using Error::Error;
};

std::unique_ptr<Surface> svg_surface(std::string_view title);
std::unique_ptr<Surface> png_surface();  // its resize() throws TooLarge

}  // namespace inkling::web
