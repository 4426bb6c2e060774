// The layout: a title with the legend, then the heatmaps, each with its name and token labels.
#include "web/pictures/attention_picture.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/utf8.h"
#include "web/pictures/surface.h"

namespace inkling::web {
namespace {

constexpr double kMargin = 24, kGap = 28;
constexpr double kSmallestLabel = 9, kLargestLabel = 14;
constexpr Colour kFaint = {95, 99, 104}, kFrame = {189, 193, 198};
using Anchor = Surface::Anchor;

// Cuts a text that is too wide, and ends it with "…".
std::string shorten(const Surface& surface, const std::string& text, double size, double max_width) {
    if (surface.text_width(text, size) <= max_width) return text;
    std::string kept, shorter;
    for (std::size_t at = 0; at < text.size() && surface.text_width(shorter + "…", size) <= max_width;) {
        kept = shorter;
        formats::append_utf8(shorter, formats::next_code_point(text, at));
    }
    return kept + "…";
}

struct Layout {
    double cell;         // side of a cell
    double label;        // size of the token labels
    std::size_t stride;  // one of this many tokens has a label
    bool upwards;        // key labels are rotated, because they are too wide for their columns
    double left, top;    // room for query and key labels
    double name;         // size of a heatmap's name
    double header;       // size of the title and the legend, relative to a small picture
    double header_height;
    std::vector<std::string> tokens;  // labels, shortened to fit
};

// Fits a screen: a head alone takes up to 1,200 pixels, all heads of a layer 2,200.
Layout lay_out(const Surface& surface, const AttentionMap& map, bool alone) {
    const double count = static_cast<double>(map.tokens.size());
    Layout layout{};
    const double room = alone ? 1200 / count : 2200 / (count * static_cast<double>(map.heads));
    const double smallest = alone ? kSmallestLabel : std::clamp(std::floor(400 / count), 2.0, kSmallestLabel + 1);
    layout.cell = std::clamp(std::floor(room), smallest, alone ? 36.0 : 28.0);
    layout.label = std::clamp(layout.cell - 1, kSmallestLabel, kLargestLabel);
    layout.stride = static_cast<std::size_t>(std::ceil(layout.label / layout.cell));
    double widest = 0;
    for (const std::string& token : map.tokens) {
        layout.tokens.push_back(shorten(surface, token, layout.label, layout.label * 9));
        widest = std::max(widest, std::ceil(surface.text_width(layout.tokens.back(), layout.label)));
    }
    const double column = layout.cell * static_cast<double>(layout.stride), side = layout.cell * count;
    layout.upwards = widest > column * 1.3;  // a few wide letters may touch their neighbours
    layout.left = widest + 6;
    layout.top = (layout.upwards ? widest : layout.label) + 6;
    layout.name = std::clamp(side / 24, 13.0, 20.0);
    layout.header = alone ? 1 : std::clamp(side * static_cast<double>(map.heads) / 1000, 1.0, 2.5);
    layout.header_height = kMargin + 66 * layout.header + kGap;
    return layout;
}

void draw_head(Surface& surface, const AttentionMap& map, const Layout& layout, HeadIndex at, double x, double y) {
    const std::size_t count = map.tokens.size();
    const double side = layout.cell * static_cast<double>(count);
    surface.text({.x = x + layout.left, .y = y + layout.name / 2, .size = layout.name},
                 fmt::format("layer {}, head {}", at.layer, at.head));
    const double left = x + layout.left, top = y + layout.name + 8 + layout.top;
    surface.rectangle(left - 1, top - 1, side + 2, side + 2, kFrame);
    surface.rectangle(left, top, side, side, {255, 255, 255});
    std::vector<double> positions;
    for (const float weight : map.triangle(at)) positions.push_back(map.position(weight));
    surface.triangle(left, top, layout.cell, positions);
    for (std::size_t i = 0; i < count; i += layout.stride) {
        const double middle = (static_cast<double>(i) + 0.5) * layout.cell;
        Surface::Text label{.x = left - 5, .y = top + middle, .size = layout.label, .anchor = Anchor::end};
        surface.text(label, layout.tokens[i]);
        label.x = left + middle;
        label.y = layout.upwards ? top - 5 : top - 5 - layout.label / 2;
        label.anchor = layout.upwards ? Anchor::start : Anchor::middle;
        label.upwards = layout.upwards;
        surface.text(label, layout.tokens[i]);
    }
}

void draw_header(Surface& surface, const AttentionMap& map, double scale, double max_width) {
    surface.text({.x = kMargin, .y = kMargin + 10 * scale, .size = 20 * scale},
                 shorten(surface, "Attention in " + map.model, 20 * scale, max_width));
    const double x = kMargin + 4 * scale, y = kMargin + 34 * scale, width = 240 * scale, height = 12 * scale;
    constexpr int kSteps = 60;
    for (int i = 0; i < kSteps; ++i)
        surface.rectangle(x + i * width / kSteps, y, width / kSteps, height, scale_colour((i + 0.5) / kSteps));
    Surface::Text text{
        .x = x, .y = y + height + 10 * scale, .size = 11 * scale, .anchor = Anchor::middle, .colour = kFaint};
    for (const double weight : kLegend) {
        text.x = x + map.position(weight) * width;
        surface.text(text, fmt::format("{}", weight));
    }
    text = {.x = x + width + 24 * scale, .y = y, .size = 12 * scale, .colour = kFaint};
    surface.text(text, "rows: the token that attends");
    text.y += 18 * scale;
    surface.text(text, "columns: the token it attends to");
}

void draw(Surface& surface, const AttentionMap& map, std::optional<HeadIndex> only) {
    const Layout layout = lay_out(surface, map, only.has_value());
    const std::size_t rows = only ? 1 : map.layers, columns = only ? 1 : map.heads;
    const double side = layout.cell * static_cast<double>(map.tokens.size());
    const double width = layout.left + side, height = layout.name + 8 + layout.top + side;
    const double narrowest = 560 * layout.header;  // room for the header
    const double across = std::max(narrowest, 2 * kMargin + static_cast<double>(columns) * (width + kGap) - kGap);
    surface.resize(across, layout.header_height + static_cast<double>(rows) * (height + kGap) - kGap + kMargin);
    draw_header(surface, map, layout.header, across - 2 * kMargin);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            draw_head(surface, map, layout, only.value_or(HeadIndex{row, column}),
                      kMargin + static_cast<double>(column) * (width + kGap),
                      layout.header_height + static_cast<double>(row) * (height + kGap));
        }
    }
}

}  // namespace

std::string svg_picture(const AttentionMap& map, std::optional<HeadIndex> only) {
    const auto surface = svg_surface("Attention weights");
    draw(*surface, map, only);
    return surface->finish();
}

std::string png_picture(const AttentionMap& map, std::optional<HeadIndex> only) {
    const auto surface = png_surface();
    try {
        draw(*surface, map, only);
    } catch (const TooLarge& e) {
        throw Error(fmt::format("attention: {}: choose one head with --head, a shorter prompt, or html", e.what()));
    }
    return surface->finish();
}

}  // namespace inkling::web
