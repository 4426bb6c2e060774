#include "web/pictures/curve_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace inkling::web {
namespace {

using Json = nlohmann::ordered_json;
using Anchor = Surface::Anchor;

constexpr double kWidth = 760, kHeight = 320, kLeft = 56, kRight = 16, kTop = 16, kBottom = 48, kText = 13;
constexpr Colour kInk = {95, 99, 104}, kGrid = {218, 220, 224}, kValidation = {68, 1, 84};
constexpr std::array<Colour, 8> kCurveColours = {{{38, 130, 142},
                                                  {179, 38, 30},
                                                  {95, 61, 196},
                                                  {168, 93, 0},
                                                  {43, 138, 62},
                                                  {166, 30, 107},
                                                  {24, 100, 171},
                                                  {73, 80, 87}}};

std::vector<Point> points_of(const Json& run, const char* key) {
    const Json &steps = run["metrics"]["step"], &values = run["metrics"][key];
    std::vector<Point> points;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (values[i].is_number() && values[i].get<double>() > 0)
            points.push_back({steps[i].get<double>(), values[i].get<double>()});
    return points;
}

// Averages neighbours if there are more points than there is room for.
std::vector<Point> thinned(const std::vector<Point>& points) {
    constexpr std::size_t kMost = 350;
    const std::size_t every = (points.size() + kMost - 1) / kMost;
    if (every < 2) return points;
    std::vector<Point> result;
    for (std::size_t begin = 0; begin < points.size(); begin += every) {
        const std::size_t end = std::min(points.size(), begin + every);
        Point mean{0, 0};
        for (std::size_t i = begin; i < end; ++i) mean.x += points[i].x, mean.y += points[i].y;
        const auto n = static_cast<double>(end - begin);
        result.push_back({mean.x / n, mean.y / n});
    }
    return result;
}

// In nats per token; NaN if unknown. The text's bytes per token follow from the two units of its validation loss.
double floor_of(const Json& run) {
    const auto losses = points_of(run, "val_loss"), bits = points_of(run, "bits_per_byte");
    if (!run.contains("floor") || losses.empty() || bits.empty()) return std::numeric_limits<double>::quiet_NaN();
    return run["floor"].get<double>() * losses.back().y / (bits.back().y * std::log(2.0));
}

// The distance of the ticks: 1, 2 or 5 times a power of 10, for about five ticks.
double tick_of(double last) {
    const double power = std::pow(10, std::floor(std::log10(std::max(1.0, last) / 4)));
    for (const double times : {1.0, 2.0, 5.0})
        if (last / (power * times) <= 6) return std::max(1.0, power * times);
    return power * 10;
}

// The labelled losses: 1, 2 and 5 times powers of 10; even steps in a narrow range.
std::vector<double> levels(double low, double high) {
    std::vector<double> found;
    for (double power = 1e-6; power < 1e7; power *= 10)
        for (const double times : {1.0, 2.0, 5.0})
            if (power * times >= low && power * times <= high) found.push_back(power * times);
    if (found.size() > 2) return found;
    found.clear();
    double step = std::pow(10, std::floor(std::log10(high - low)));
    if ((high - low) / step < 3) step /= 5;
    for (double at = std::ceil(low / step) * step; at <= high; at += step) found.push_back(at);
    return found;
}

struct Plot {
    double low, high, last;
    Point operator()(Point p) const {
        const double up = std::log(high / p.y) / std::log(high / low);
        return {kLeft + (kWidth - kLeft - kRight) * p.x / last, kTop + (kHeight - kTop - kBottom) * up};
    }
};

void draw_axes(Surface& surface, const Plot& at) {
    for (const double loss : levels(at.low, at.high)) {
        const double y = at({0, loss}).y;
        surface.line(std::array{Point{kLeft, y}, Point{kWidth - kRight, y}}, 1, kGrid);
        surface.text({.x = kLeft - 8, .y = y, .size = kText, .anchor = Anchor::end, .colour = kInk},
                     fmt::format("{:.3g}", loss));
    }
    const double tick = tick_of(at.last);
    for (double step = 0; step <= at.last; step += tick) {
        const double x = at({step, 1}).x;
        const Anchor anchor = x > kWidth - kRight - 20 ? Anchor::end : Anchor::middle;
        surface.text({.x = x, .y = kHeight - kBottom + 14, .size = kText, .anchor = anchor, .colour = kInk},
                     fmt::format("{}", static_cast<long>(step)));
    }
    surface.text({.x = (kLeft + kWidth - kRight) / 2,
                  .y = kHeight - 12,
                  .size = kText,
                  .anchor = Anchor::middle,
                  .colour = kInk},
                 "step");
}

}  // namespace

void draw_curves(Surface& surface, const std::vector<Json>& runs) {
    Plot at{std::numeric_limits<double>::infinity(), 0, 0};
    for (const Json& run : runs) {
        for (const char* key : {"loss", "val_loss"}) {
            for (const Point p : points_of(run, key))
                at = {std::min(at.low, p.y), std::max(at.high, p.y), std::max(at.last, p.x)};
        }
        at.low = std::fmin(at.low, floor_of(run));
    }
    check<BadInput>(at.high > 0, "no loss of these runs can be drawn: they have none, or it is not a number");
    at = {0.9 * at.low, 1.05 * at.high, std::max(1.0, at.last)};
    surface.resize(kWidth, kHeight);
    draw_axes(surface, at);
    const bool alone = runs.size() == 1;
    double y = kTop + 10;
    const auto name = [&](const std::string& text) {
        surface.text({.x = kWidth - 134, .y = y, .size = kText, .colour = kInk},
                     text.size() <= 20 ? text : text.substr(0, 19) + "…");
        y += 20;
    };
    const auto place = [&](std::vector<Point> points) {
        for (Point& p : points) p = at(p);
        return points;
    };
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Colour colour = kCurveColours[i % kCurveColours.size()];
        surface.line(place(thinned(points_of(runs[i], "loss"))), 1.5, colour);
        surface.line(std::array{Point{kWidth - 166, y}, Point{kWidth - 142, y}}, 1.5, colour);
        name(alone ? "training loss" : runs[i].value("name", ""));
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto dots = place(points_of(runs[i], "val_loss"));
        for (const Point p : dots)
            surface.dot(p, alone ? 4 : 3, alone ? kValidation : kCurveColours[i % kCurveColours.size()]);
        if (!alone || dots.empty()) continue;
        surface.dot({kWidth - 154, y}, 4, kValidation);
        name("validation loss");
    }
    const double floor = alone ? floor_of(runs[0]) : std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(floor)) return;
    const double level = at({0, floor}).y;
    surface.line(std::array{Point{kLeft, level}, Point{kWidth - kRight, level}}, 1, kInk, true);
    surface.line(std::array{Point{kWidth - 166, y}, Point{kWidth - 142, y}}, 1, kInk, true);
    name("entropy of the text");
}

}  // namespace inkling::web
