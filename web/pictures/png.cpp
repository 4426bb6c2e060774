// Pictures as PNG.
#include <png.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "web/pictures/stroke_font.h"
#include "web/pictures/surface.h"

namespace inkling::web {
namespace {

class Png : public Surface {
  public:
    void resize(double width, double height) override {
        constexpr double kSharp = 5000, kMaxPixels = 120e6;  // pixels: the largest width at density 2; width * height
        density_ = 2 * width <= kSharp ? 2 : 1;
        width_ = static_cast<std::ptrdiff_t>(std::ceil(width * density_));
        height_ = static_cast<std::ptrdiff_t>(std::ceil(height * density_));
        check<TooLarge>(width * height <= kMaxPixels, "the picture would have {} x {} pixels", width_, height_);
        pixels_.assign(static_cast<std::size_t>(width_ * height_), {255, 255, 255});
    }

    void rectangle(double x, double y, double width, double height, Colour colour) override {
        const auto right = column(x + width), bottom = row(y + height);
        for (auto j = row(y); j < bottom; ++j) std::fill(at(column(x), j), at(right, j), colour);
    }

    void triangle(double x, double y, double cell, std::span<const double> positions) override {
        for (std::size_t query = 0, i = 0; i < positions.size(); ++query) {
            for (std::size_t key = 0; key <= query; ++key, ++i) {
                rectangle(x + cell * static_cast<double>(key), y + cell * static_cast<double>(query), cell, cell,
                          scale_colour(positions[i]));
            }
        }
    }

    void line(std::span<const Point> points, double width, Colour colour, bool dashed) override {
        double walked = 0;  // along the line, for dashes
        for (std::size_t i = 1; i < points.size(); ++i) {
            const Point from = points[i - 1], to = points[i];
            const double length = std::hypot(to.x - from.x, to.y - from.y);
            if (!dashed) segment(from, to, width, colour);
            for (double at = 0; dashed && at < length;) {
                const double phase = std::fmod(walked + at, kDash + kPause);
                const double rest = std::min(length - at, (phase < kDash ? kDash : kDash + kPause) - phase);
                const auto along = [&](double distance) {
                    return Point{from.x + (to.x - from.x) * distance / length,
                                 from.y + (to.y - from.y) * distance / length};
                };
                if (phase < kDash) segment(along(at), along(at + rest), width, colour);
                at += std::max(rest, 1e-3);
            }
            walked += length;
        }
    }

    void dot(Point centre, double radius, Colour colour) override { segment(centre, centre, 2 * radius, colour); }

    void text(const Text& how, std::string_view what) override {
        const StrokeText text = stroke_text(what);
        const double scale = unit(how.size) * density_;
        const double start = text.width * scale * -0.5 * static_cast<int>(how.anchor);
        const double radius = std::max(1.15, how.size * density_ * 0.085) / 2;
        for (const Stroke& s : text.strokes) {
            Stroke line = {start + s.x0 * scale, s.y0 * scale, start + s.x1 * scale, s.y1 * scale};
            if (how.upwards) line = {line.y0, -line.x0, line.y1, -line.x1};
            const double dx = how.x * density_, dy = how.y * density_;
            draw_line({line.x0 + dx, line.y0 + dy, line.x1 + dx, line.y1 + dy}, radius, how.colour);
        }
    }

    double text_width(std::string_view text, double size) const override {
        return stroke_text(text).width * unit(size);
    }

    std::string finish() override {
        png_image image = {};
        image.version = PNG_IMAGE_VERSION;
        image.width = static_cast<png_uint_32>(width_);
        image.height = static_cast<png_uint_32>(height_);
        image.format = PNG_FORMAT_RGB;
        std::string bytes;
        png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
        bytes.resize(size);
        const int written = png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels_.data(), 0, nullptr);
        check(written != 0, "the PNG library failed: {}", image.message);
        bytes.resize(size);
        return bytes;
    }

  private:
    static_assert(sizeof(Colour) == 3, "rows of pixels are handed to the PNG library as they are");

    static constexpr double kDash = 5, kPause = 4;

    void segment(Point from, Point to, double width, Colour colour) {
        draw_line({from.x * density_, from.y * density_, to.x * density_, to.y * density_}, width * density_ / 2,
                  colour);
    }

    static double unit(double size) { return size * 0.72 / kCapitalHeight; }

    std::ptrdiff_t column(double x) const { return std::clamp<std::ptrdiff_t>(std::lround(x * density_), 0, width_); }
    std::ptrdiff_t row(double y) const { return std::clamp<std::ptrdiff_t>(std::lround(y * density_), 0, height_); }
    std::vector<Colour>::iterator at(std::ptrdiff_t x, std::ptrdiff_t y) { return pixels_.begin() + y * width_ + x; }

    // A line with round ends. A pixel's cover is the part of a disc at its centre that lies within the line. Pixels
    // only ever get darker, so that lines can meet.
    void draw_line(const Stroke& s, double radius, Colour colour) {
        const double dx = s.x1 - s.x0, dy = s.y1 - s.y0, length2 = std::max(1e-9, dx * dx + dy * dy),
                     reach = radius + 1;
        const auto left = std::max<std::ptrdiff_t>(0, std::lround(std::floor(std::min(s.x0, s.x1) - reach)));
        const auto right = std::min<std::ptrdiff_t>(width_, std::lround(std::ceil(std::max(s.x0, s.x1) + reach)));
        const auto top = std::max<std::ptrdiff_t>(0, std::lround(std::floor(std::min(s.y0, s.y1) - reach)));
        const auto bottom = std::min<std::ptrdiff_t>(height_, std::lround(std::ceil(std::max(s.y0, s.y1) + reach)));
        for (auto y = top; y < bottom; ++y) {
            for (auto x = left; x < right; ++x) {
                const double px = static_cast<double>(x) + 0.5 - s.x0, py = static_cast<double>(y) + 0.5 - s.y0;
                const double along = std::clamp((px * dx + py * dy) / length2, 0.0, 1.0);
                const double distance = std::hypot(px - along * dx, py - along * dy);
                const double cover = std::clamp(radius + 0.5 - distance, 0.0, 1.0);
                const auto darken = [&](std::uint8_t& channel, std::uint8_t ink) {
                    channel = std::min(channel, static_cast<std::uint8_t>(std::lround(255 - cover * (255 - ink))));
                };
                Colour& pixel = *at(x, y);
                darken(pixel.red, colour.red), darken(pixel.green, colour.green), darken(pixel.blue, colour.blue);
            }
        }
    }

    double density_ = 1;  // pixels of the file per pixel of the layout
    std::ptrdiff_t width_ = 0, height_ = 0;
    std::vector<Colour> pixels_;
};

}  // namespace

std::unique_ptr<Surface> png_surface() { return std::make_unique<Png>(); }

Colour scale_colour(double position) {
    const double at = std::clamp(position, 0.0, 1.0) * (kScale.size() - 1);
    const std::size_t i = std::min(static_cast<std::size_t>(at), kScale.size() - 2);
    const auto mix = [&](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(std::lround(a + (b - a) * (at - static_cast<double>(i))));
    };
    const Colour low = kScale[i], high = kScale[i + 1];
    return {mix(low.red, high.red), mix(low.green, high.green), mix(low.blue, high.blue)};
}

}  // namespace inkling::web
