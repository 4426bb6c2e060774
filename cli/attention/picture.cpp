// The layout: a title with the legend, then one heatmap after another, each with its name and token labels.
#include "cli/attention/picture.h"

#include <algorithm>
#include <cmath>

namespace inkling::cli {
namespace {

constexpr double kMargin = 24, kGap = 28, kTitle = 20, kName = 14;
constexpr double kSmallestLabel = 9, kLargestLabel = 14;
constexpr Colour kInk = {32, 33, 36}, kFaint = {95, 99, 104}, kFrame = {189, 193, 198};
using Anchor = Surface::Anchor;

struct Layout {
    double cell;          // side of a square
    double label;         // size of the token labels
    std::size_t stride;   // every how many tokens one is labelled
    bool upwards;         // key labels stand upright, because they are too wide for their columns
    double left, top;     // room for query and key labels
    double title_height;  // of everything above the first heatmap
};

// As large as a screen shows well: a head alone may take 1,200 pixels, all heads of a layer 3,000.
Layout lay_out(const Surface& surface, const AttentionMap& map, bool alone) {
    const double count = static_cast<double>(map.tokens.size());
    Layout layout{};
    const double room = alone ? 1200 / count : 3000 / (count * static_cast<double>(map.heads));
    layout.cell = std::clamp(std::floor(room), alone ? kSmallestLabel : 2.0, alone ? 36.0 : 28.0);
    layout.label = std::clamp(layout.cell - 1, kSmallestLabel, kLargestLabel);
    layout.stride = static_cast<std::size_t>(std::ceil(layout.label / layout.cell));
    double widest = 0;
    for (const std::string& token : map.tokens)
        widest = std::max(widest, surface.text_width(token, layout.label));
    widest = std::min(widest, layout.label * 9);
    layout.upwards = widest > layout.cell * static_cast<double>(layout.stride) - 1;
    layout.left = widest + 6;
    layout.top = (layout.upwards ? widest : layout.label) + 6;
    layout.title_height = kMargin + kTitle + 3 * kName + kGap;
    return layout;
}

void draw_head(Surface& surface, const AttentionMap& map, const Layout& layout, Head at, double x, double y) {
    const std::size_t count = map.tokens.size();
    const double side = layout.cell * static_cast<double>(count);
    surface.text({.x = x + layout.left, .y = y + kName / 2, .size = kName, .colour = kInk},
                 fmt::format("layer {}, head {}", at.layer, at.head));
    const double left = x + layout.left, top = y + kName + 8 + layout.top;
    surface.rectangle(left - 1, top - 1, side + 2, side + 2, kFrame);
    surface.rectangle(left, top, side, side, {255, 255, 255});
    surface.triangle(left, top, layout.cell, map.triangle(at));
    for (std::size_t i = 0; i < count; i += layout.stride) {
        const double middle = (static_cast<double>(i) + 0.5) * layout.cell;
        Surface::Text label{.x = left - 5, .y = top + middle, .size = layout.label, .anchor = Anchor::end};
        label.most = layout.left - 6;
        surface.text(label, map.tokens[i]);
        label.x = left + middle;
        label.y = layout.upwards ? top - 5 : top - 5 - layout.label / 2;
        label.anchor = layout.upwards ? Anchor::start : Anchor::middle;
        label.upwards = layout.upwards;
        surface.text(label, map.tokens[i]);
    }
}

double draw_legend(Surface& surface, double x, double y) {
    constexpr double kWidth = 240, kHeight = 12;
    constexpr int kSteps = 60;
    for (int i = 0; i < kSteps; ++i) {
        surface.rectangle(x + i * kWidth / kSteps, y, kWidth / kSteps, kHeight, scale_colour((i + 0.5) / kSteps));
    }
    for (const float weight : kLegend) {
        surface.text({.x = x + scale_position(weight) * kWidth,
                      .y = y + kHeight + 10,
                      .size = 11,
                      .anchor = Anchor::middle,
                      .colour = kFaint},
                     fmt::format("{}", weight));
    }
    return kWidth;
}

}  // namespace

void draw(Surface& surface, const AttentionMap& map, std::optional<Head> only) {
    const Layout layout = lay_out(surface, map, only.has_value());
    const std::size_t rows = only ? 1 : map.layers, columns = only ? 1 : map.heads;
    const double side = layout.cell * static_cast<double>(map.tokens.size());
    const double width = layout.left + side, height = kName + 8 + layout.top + side;
    const double narrowest = 560;  // the legend and its explanation
    surface.resize(std::max(narrowest, 2 * kMargin + static_cast<double>(columns) * (width + kGap) - kGap),
                   layout.title_height + static_cast<double>(rows) * (height + kGap) - kGap + kMargin);
    surface.text({.x = kMargin, .y = kMargin + kTitle / 2, .size = kTitle, .most = narrowest - 2 * kMargin},
                 "Attention in " + map.model);
    const double legend = draw_legend(surface, kMargin + 8, kMargin + kTitle + 14);
    surface.text({.x = kMargin + legend + 40, .y = kMargin + kTitle + 12, .size = 12, .colour = kFaint},
                 "rows: the token that looks");
    surface.text({.x = kMargin + legend + 40, .y = kMargin + kTitle + 30, .size = 12, .colour = kFaint},
                 "columns: what it looks at");
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            draw_head(surface, map, layout, only.value_or(Head{row, column}),
                      kMargin + static_cast<double>(column) * (width + kGap),
                      layout.title_height + static_cast<double>(row) * (height + kGap));
        }
    }
}

}  // namespace inkling::cli
