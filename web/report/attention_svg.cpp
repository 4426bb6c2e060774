// The layout: a title with the legend, then the heatmaps, each with its name and token labels. A heatmap is one path
// for each of 64 colours and joins runs of equal squares: a fraction of the size of one rectangle per weight.
#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/utf8.h"
#include "web/report/attention_page.h"
#include "web/report/pages.h"

namespace inkling::web {
namespace {

constexpr double kMargin = 24, kGap = 28;
constexpr double kSmallestLabel = 9, kLargestLabel = 14;
constexpr Colour kBlack = {32, 33, 36}, kFaint = {95, 99, 104}, kFrame = {189, 193, 198}, kWhite = {255, 255, 255};

std::string hex(Colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

// At most two decimals, without trailing zeros.
std::string number(double x) { return fmt::format("{}", std::round(x * 100) / 100); }

std::string rectangle(double x, double y, double width, double height, Colour colour) {
    return fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>\n", number(x),
        number(y), number(width), number(height), hex(colour));
}

struct Text {
    double x, y, size;  // y: the middle of the line
    const char* anchor = "start";
    Colour colour = kBlack;
    bool upwards = false;  // rotated by 90 degrees, anchored vertically
};

// The baseline lies about a third of the size below the middle; not every program supports dominant-baseline.
std::string written(const Text& how, std::string_view what) {
    const double baseline = how.size * 0.35;
    const std::string place =
        how.upwards ? fmt::format("transform=\"translate({} {}) rotate(-90)\"", number(how.x + baseline), number(how.y))
                    : fmt::format("x=\"{}\" y=\"{}\"", number(how.x), number(how.y + baseline));
    return fmt::format("<text font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\" {}>{}</text>\n", number(how.size),
                       how.anchor, hex(how.colour), place, escape_markup(what));
}

// Wide characters, such as Chinese, are about as wide as high.
double width_of(char32_t c) { return c < 0x1100 ? 0.61 : 1.0; }
double text_width(std::string_view text, double size) {
    double width = 0;
    for (std::size_t at = 0; at < text.size();) width += width_of(formats::next_code_point(text, at));
    return width * size;
}

// Cuts a text that is too wide, and ends it with "…".
std::string shorten(const std::string& text, double size, double max_width) {
    if (text_width(text, size) <= max_width) return text;
    std::size_t kept = 0;
    double width = width_of(U'…');
    for (std::size_t at = 0; width * size <= max_width;) {
        kept = at;
        width += width_of(formats::next_code_point(text, at));
    }
    return text.substr(0, kept) + "…";
}

// The lower triangle of squares, row by row, with its top left corner at (x, y).
std::string triangle(double x, double y, double cell, const AttentionMap& map, HeadIndex at) {
    constexpr std::size_t kColours = 64;
    std::vector<std::string> paths(kColours);
    const auto colour_of = [&](float weight) {
        return std::min(kColours - 1, static_cast<std::size_t>(map.position(weight) * kColours));
    };
    for (std::size_t query = 0; query < map.tokens.size(); ++query) {
        const std::span<const float> row = map.row(at, query);
        for (std::size_t begin = 0, end; begin <= query; begin = end) {
            const std::size_t colour = colour_of(row[begin]);
            for (end = begin + 1; end <= query && colour_of(row[end]) == colour;) ++end;
            paths[colour] += fmt::format("M{} {}h{}v1H{}z", begin, query, end - begin, begin);
        }
    }
    std::string body = fmt::format("<g transform=\"translate({} {}) scale({})\" shape-rendering=\"crispEdges\">\n",
                                   number(x), number(y), number(cell));
    for (std::size_t i = 0; i < kColours; ++i) {
        const Colour colour = scale_colour((static_cast<double>(i) + 0.5) / kColours);
        if (!paths[i].empty()) body += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", hex(colour), paths[i]);
    }
    return body + "</g>\n";
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
Layout lay_out(const AttentionMap& map, bool alone) {
    const double count = static_cast<double>(map.tokens.size());
    Layout layout{};
    const double room = alone ? 1200 / count : 2200 / (count * static_cast<double>(map.heads));
    const double smallest = alone ? kSmallestLabel : std::clamp(std::floor(400 / count), 2.0, kSmallestLabel + 1);
    layout.cell = std::clamp(std::floor(room), smallest, alone ? 36.0 : 28.0);
    layout.label = std::clamp(layout.cell - 1, kSmallestLabel, kLargestLabel);
    layout.stride = static_cast<std::size_t>(std::ceil(layout.label / layout.cell));
    double widest = 0;
    for (const std::string& token : map.tokens) {
        layout.tokens.push_back(shorten(token, layout.label, layout.label * 9));
        widest = std::max(widest, std::ceil(text_width(layout.tokens.back(), layout.label)));
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

std::string draw_head(const AttentionMap& map, const Layout& layout, HeadIndex at, double x, double y) {
    const std::size_t count = map.tokens.size();
    const double side = layout.cell * static_cast<double>(count);
    const double left = x + layout.left, top = y + layout.name + 8 + layout.top;
    std::string body = written({.x = left, .y = y + layout.name / 2, .size = layout.name},
                               fmt::format("layer {}, head {}", at.layer, at.head));
    body += rectangle(left - 1, top - 1, side + 2, side + 2, kFrame) + rectangle(left, top, side, side, kWhite);
    body += triangle(left, top, layout.cell, map, at);
    for (std::size_t i = 0; i < count; i += layout.stride) {
        const double middle = (static_cast<double>(i) + 0.5) * layout.cell;
        Text label{.x = left - 5, .y = top + middle, .size = layout.label, .anchor = "end"};
        body += written(label, layout.tokens[i]);
        label.x = left + middle;
        label.y = layout.upwards ? top - 5 : top - 5 - layout.label / 2;
        label.anchor = layout.upwards ? "start" : "middle";
        label.upwards = layout.upwards;
        body += written(label, layout.tokens[i]);
    }
    return body;
}

std::string draw_header(const AttentionMap& map, double scale, double max_width) {
    std::string body = written({.x = kMargin, .y = kMargin + 10 * scale, .size = 20 * scale},
                               shorten("Attention in " + map.model, 20 * scale, max_width));
    const double x = kMargin + 4 * scale, y = kMargin + 34 * scale, width = 240 * scale, height = 12 * scale;
    constexpr int kSteps = 60;
    for (int i = 0; i < kSteps; ++i)
        body += rectangle(x + i * width / kSteps, y, width / kSteps, height, scale_colour((i + 0.5) / kSteps));
    Text text{.x = x, .y = y + height + 10 * scale, .size = 11 * scale, .anchor = "middle", .colour = kFaint};
    for (const double weight : kLegend) {
        text.x = x + map.position(weight) * width;
        body += written(text, fmt::format("{}", weight));
    }
    text = {.x = x + width + 24 * scale, .y = y, .size = 12 * scale, .colour = kFaint};
    body += written(text, "rows: the token that attends");
    text.y += 18 * scale;
    return body + written(text, "columns: the token it attends to");
}

}  // namespace

std::string attention_svg(const AttentionMap& map, std::optional<HeadIndex> only) {
    const Layout layout = lay_out(map, only.has_value());
    const std::size_t rows = only ? 1 : map.layers, columns = only ? 1 : map.heads;
    const double side = layout.cell * static_cast<double>(map.tokens.size());
    const double width = layout.left + side, height = layout.name + 8 + layout.top + side;
    const double narrowest = 560 * layout.header;  // room for the header
    const double across = std::max(narrowest, 2 * kMargin + static_cast<double>(columns) * (width + kGap) - kGap);
    const double down = layout.header_height + static_cast<double>(rows) * (height + kGap) - kGap + kMargin;
    // Scales to the window's width, but not beyond the drawn size or the window's height.
    std::string body = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"100%\" "
        "style=\"max-width: {0}px; max-height: 100vh\" "
        "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\">\n"
        "<title>Attention weights</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        number(std::ceil(across)), number(std::ceil(down)));
    body += draw_header(map, layout.header, across - 2 * kMargin);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            body += draw_head(map, layout, only.value_or(HeadIndex{row, column}),
                              kMargin + static_cast<double>(column) * (width + kGap),
                              layout.header_height + static_cast<double>(row) * (height + kGap));
        }
    }
    return body + "</svg>\n";
}

}  // namespace inkling::web
