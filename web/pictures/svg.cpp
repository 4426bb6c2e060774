// Pictures as SVG. A heatmap is one path for each of 64 colours and joins runs of equal squares: a fraction of the size
// of one rectangle per weight.
#include <cmath>
#include <vector>

#include "formats/utf8.h"
#include "web/pictures/surface.h"
#include "web/report/markup.h"

namespace inkling::web {
namespace {

std::string hex(Colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

// At most two decimals, without trailing zeros.
std::string number(double x) { return fmt::format("{}", std::round(x * 100) / 100); }
std::string tenth(double x) { return fmt::format("{}", std::round(x * 10) / 10); }

class Svg : public Surface {
  public:
    explicit Svg(std::string_view title) : title_(title) {}

    // Scales to the window's width, but not beyond the drawn size or the window's height.
    void resize(double width, double height) override {
        body_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"100%\" "
            "style=\"max-width: {0}px; max-height: 100vh\" "
            "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\">\n"
            "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
            number(std::ceil(width)), number(std::ceil(height)), escape_markup(title_));
    }

    void rectangle(double x, double y, double width, double height, Colour colour) override {
        body_ += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>\n",
            number(x), number(y), number(width), number(height), hex(colour));
    }

    void triangle(double x, double y, double cell, std::span<const double> positions) override {
        constexpr std::size_t kColours = 64;
        std::vector<std::string> paths(kColours);
        const auto step = [&](std::size_t i) {
            return std::min(kColours - 1, static_cast<std::size_t>(positions[i] * kColours));
        };
        for (std::size_t row = 0, at = 0; at < positions.size(); at += ++row) {
            for (std::size_t begin = 0, end; begin <= row; begin = end) {
                const std::size_t colour = step(at + begin);
                for (end = begin + 1; end <= row && step(at + end) == colour;) ++end;
                paths[colour] += fmt::format("M{} {}h{}v1H{}z", begin, row, end - begin, begin);
            }
        }
        body_ += fmt::format("<g transform=\"translate({} {}) scale({})\" shape-rendering=\"crispEdges\">\n", number(x),
                             number(y), number(cell));
        for (std::size_t i = 0; i < kColours; ++i) {
            const Colour colour = scale_colour((static_cast<double>(i) + 0.5) / kColours);
            if (!paths[i].empty()) body_ += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", hex(colour), paths[i]);
        }
        body_ += "</g>\n";
    }

    void line(std::span<const Point> points, double width, Colour colour, bool dashed) override {
        std::string path;
        for (const Point p : points) path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', tenth(p.x), tenth(p.y));
        body_ += fmt::format(
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{}/>\n", path,
            hex(colour), number(width), dashed ? " stroke-dasharray=\"5 4\"" : "");
    }

    void dot(Point centre, double radius, Colour colour) override {
        body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", tenth(centre.x), tenth(centre.y),
                             number(radius), hex(colour));
    }

    void text(const Text& how, std::string_view what) override {
        constexpr const char* kAnchors[] = {"start", "middle", "end"};
        std::string attributes = fmt::format("font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"", number(how.size),
                                             kAnchors[static_cast<int>(how.anchor)], hex(how.colour));
        // The baseline lies about a third of the size below the middle; not every program supports dominant-baseline.
        if (how.upwards) {
            attributes += fmt::format(" transform=\"translate({} {}) rotate(-90)\"", number(how.x + how.size * 0.35),
                                      number(how.y));
        } else {
            attributes += fmt::format(" x=\"{}\" y=\"{}\"", number(how.x), number(how.y + how.size * 0.35));
        }
        body_ += fmt::format("<text {}>{}</text>\n", attributes, escape_markup(what));
    }

    // Wide characters, such as Chinese, are about as wide as high.
    double text_width(std::string_view text, double size) const override {
        double width = 0;
        for (std::size_t at = 0; at < text.size();) width += formats::next_code_point(text, at) < 0x1100 ? 0.61 : 1.0;
        return width * size;
    }

    std::string finish() override { return std::move(body_) + "</svg>\n"; }

  private:
    std::string title_, body_;
};

}  // namespace

std::unique_ptr<Surface> svg_surface(std::string_view title) { return std::make_unique<Svg>(title); }

}  // namespace inkling::web
