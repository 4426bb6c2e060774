// Loss curves as SVG and PNG.
#include "web/pictures/curve_picture.h"

#include <cmath>

#include "tests/catch.h"

using namespace inkling;
using nlohmann::ordered_json;
using web::draw_curves;

namespace {

// Records the drawing calls instead of a picture.
struct Strokes : web::Surface {
    std::vector<std::vector<web::Point>> lines;
    std::vector<web::Point> dots;
    std::vector<std::string> texts;
    double width = 0, height = 0;
    void resize(double w, double h) override { width = w, height = h; }
    void rectangle(double, double, double, double, web::Colour) override {}
    void triangle(double, double, double, std::span<const double>) override {}
    void line(std::span<const web::Point> points, double, web::Colour, bool) override {
        lines.emplace_back(points.begin(), points.end());
    }
    void dot(web::Point centre, double, web::Colour) override { dots.push_back(centre); }
    void text(const Text&, std::string_view what) override { texts.emplace_back(what); }
    double text_width(std::string_view text, double size) const override {
        return static_cast<double>(text.size()) * size / 2;
    }
    std::string finish() override { return ""; }
};

ordered_json curve(std::size_t n, const std::string& name = "run") {
    ordered_json m;
    for (const char* key : {"step", "loss", "val_loss", "bits_per_byte"}) m[key] = ordered_json::array();
    for (std::size_t i = 1; i <= n; ++i) {
        m["step"].push_back(i);
        m["loss"].push_back(8.0 / std::sqrt(static_cast<double>(i)));
        m["val_loss"].push_back(i % 10 == 0 ? ordered_json(9.0 / std::sqrt(static_cast<double>(i))) : ordered_json());
        m["bits_per_byte"].push_back(nullptr);
    }
    return {{"name", name}, {"metrics", m}};
}

bool named(const Strokes& drawn, const std::string& text) {
    return std::count(drawn.texts.begin(), drawn.texts.end(), text) > 0;
}

}  // namespace

TEST_CASE("curve picture: losses fall from the top left to the bottom right, within the frame", "[report]") {
    Strokes drawn;
    draw_curves(drawn, {curve(100)});
    const auto& line = *std::max_element(drawn.lines.begin(), drawn.lines.end(),
                                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    REQUIRE(line.size() == 100);
    for (std::size_t i = 1; i < line.size(); ++i) {
        CHECK(line[i].x > line[i - 1].x);
        CHECK(line[i].y > line[i - 1].y);
    }
    for (const auto& p : line) CHECK((p.x > 0 && p.x < drawn.width && p.y > 0 && p.y < drawn.height));
    // logarithmic: halving the loss always has the same distance
    CHECK(line[15].y - line[3].y == Approx(line[63].y - line[15].y));
    CHECK(drawn.dots.size() == 10 + 1);  // and that of the legend
    for (const char* text : {"training loss", "validation loss", "step", "1", "2", "5", "100"}) {
        INFO(text);
        CHECK(named(drawn, text));
    }
    CHECK_FALSE(named(drawn, "entropy of the text"));
}

TEST_CASE("curve picture: several runs are named, the entropy is told of one alone", "[report]") {
    Strokes drawn;
    draw_curves(drawn, {curve(50, "first"), curve(80, "second")});
    CHECK((named(drawn, "first") && named(drawn, "second")));
    ordered_json one = curve(50);
    one["floor"] = 0.11;  // nats per byte
    for (std::size_t i = 0; i < 50; ++i)
        if (one["metrics"]["val_loss"][i].is_number())
            one["metrics"]["bits_per_byte"][i] = one["metrics"]["val_loss"][i].get<double>() / (4 * std::log(2.0));
    Strokes with_floor;
    draw_curves(with_floor, {one});
    CHECK(named(with_floor, "entropy of the text"));
}

TEST_CASE("curve picture: SVG and PNG are whole, and nothing to draw is an error", "[report]") {
    const auto svg = web::svg_surface("a < b"), png = web::png_surface();
    draw_curves(*svg, {curve(500, "x"), curve(20, "<y>")});
    const std::string text = svg->finish();
    CHECK(text.starts_with("<svg xmlns="));
    CHECK(text.ends_with("</svg>\n"));
    CHECK_THAT(text, contains("<title>a &lt; b</title>", "&lt;y&gt;"));
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.size() < 20'000);
    draw_curves(*png, {curve(500)});
    const std::string bytes = png->finish();
    CHECK(bytes.starts_with("\x89PNG\r\n\x1a\n"));
    CHECK(bytes.size() < 200'000);
    Strokes drawn;
    ordered_json nothing = curve(2);  // nothing to draw is an error, holes and single points are none
    nothing["metrics"]["loss"] = {nullptr, nullptr};
    CHECK_THROWS_AS(draw_curves(drawn, {nothing}), BadInput);
    ordered_json holes = curve(3);
    holes["metrics"]["loss"][1] = nullptr;
    draw_curves(drawn, {holes});
    Strokes single;
    draw_curves(single, {curve(1)});
    for (const auto& line : single.lines)
        for (const auto& p : line) CHECK((std::isfinite(p.x) && std::isfinite(p.y)));
}
