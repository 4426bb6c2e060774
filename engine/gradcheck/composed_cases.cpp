// Ops that are composed of other ops.
#include "engine/gradcheck/op_cases.h"
#include "engine/ops.h"

namespace inkling {
namespace {

template <class T>
void add_norms(OpCases<T>& all) {
    using V = const Tensor<T>&;
    const std::string shapes = "3x37 | () | 5 | 2x3x2";
    all.add("norm", shapes, [](V x) { return norm(x); });
    all.add("norm 1 keep", "3x37 | 2x3x2", [](V x) { return norm(x, 2, 1, true); });
    all.add("norm of p = 1", shapes, [](V x) { return norm(x, 1, -1); });
    all.add("norm of p = 3", shapes, [](V x) { return norm(x, 3); });
    all.add("normalize", "3x37 | 2x3x2", [](V x) { return normalize(x); });
    all.add("normalize 3 0", "3x4 | 2x3x2", [](V x) { return normalize(x, 3, 0); });
    all.add("norm of infinite p", {shapes, Nan::gradients},
            [](V x) { return norm(x, std::numeric_limits<double>::infinity(), 0); });
}

template <class T>
void add_windows(OpCases<T>& all) {
    using V = const Tensor<T>&;
    const auto at = [](const char* shapes) { return CaseInputs(shapes, Nan::products); };
    all.add("unfold -1 by 2", "2x7 | 3 | 2x3x8", [](V x) { return unfold(x, -1, 3, 2); });
    all.add("unfold 0, dilation 3", "7x2 | 4", [](V x) { return unfold(x, 0, 2, 1, 3); });
    all.add("conv1d", at("2x3x7 4x3x3 4 | 1x1x3 1x1x3 1"), [](V x, V w, V b) { return conv1d(x, w, b); });
    all.add("conv1d stride 2, padding 3, dilation 2", at("2x3x7 4x3x3"),
            [](V x, V w) { return conv1d(x, w, {}, {.stride = 2, .padding = 3, .dilation = 2}); });
    all.add("conv2d", at("2x2x5x4 3x2x3x2 3"), [](V x, V w, V b) { return conv2d(x, w, b); });
    all.add("conv2d stride 2, padding 1", at("2x2x5x4 3x2x3x3"),
            [](V x, V w) { return conv2d(x, w, {}, {.stride = 2, .padding = 1}); });
    all.add("conv2d of 2 groups", at("2x4x5x4 6x2x3x2 6"), [](V x, V w, V b) {
        return conv2d(x, w, b, {.stride = {2, 1}, .padding = {1, 0}, .groups = 2});
    });
    all.add("conv_transpose2d", at("2x3x3x4 3x2x3x2 2"), [](V x, V w, V b) { return conv_transpose2d(x, w, b); });
    all.add("conv_transpose2d of 2 groups", at("2x4x3x4 4x3x3x2"), [](V x, V w) {
        return conv_transpose2d(
            x, w, {}, {.stride = {2, 3}, .padding = 1, .dilation = {1, 2}, .groups = 2, .output_padding = {1, 0}});
    });
    all.add("max_pool2d 2", {"2x3x4x6 | 5x5", Nan::gradients}, [](V x) { return max_pool2d(x, 2); });
    all.add("max_pool2d ceil", {"2x5x6 | 5x5", Nan::gradients}, [](V x) {
        return max_pool2d(x, {3, 2}, {.stride = 2, .padding = 1, .dilation = {1, 2}, .ceil_mode = true});
    });
    all.add("avg_pool2d 3 1", "2x4x6 | 5x5", [](V x) { return avg_pool2d(x, 3, {.stride = 1}); });
    all.add("avg_pool2d ceil", "2x5x6 | 5x5", [](V x) {
        return avg_pool2d(x, {3, 2}, {.stride = 2, .padding = 1, .ceil_mode = true});
    });
    all.add("avg_pool2d without padding", "2x5x6 | 5x5",
            [](V x) { return avg_pool2d(x, 3, {.padding = 1, .count_padding = false}); });
    all.add("interpolate", "2x3x4 | 2x3", [](V x) { return interpolate(x, {5, 2}); });
    all.add("interpolate exact", "2x3x4 | 2x3", [](V x) {
        return interpolate(x, {5, 2}, Interpolation::nearest_exact);
    });
    all.add("interpolate linear", at("2x3x4 | 2x3"), [](V x) { return interpolate(x, {5, 2}, Interpolation::linear); });
    all.add("interpolate linear, align_corners", at("2x3x4 | 2x3"), [](V x) {
        return interpolate(x, {5, 2}, Interpolation::linear, true);
    });
}

template <class T>
void add_scatters(OpCases<T>& all) {
    using V = const Tensor<T>&;
    IdArray places({2, 3}), twice({2, 3}), few({1, 3});  // the second row of `twice` has a place twice
    std::ranges::copy(std::initializer_list<int>{2, 0, 3, 1, 3, 0}, places.data());
    std::ranges::copy(std::initializer_list<int>{2, 0, 3, 1, 0, 1}, twice.data());
    std::ranges::copy(std::initializer_list<int>{2, 0, 2}, few.data());
    const CaseInputs maxima("2x4 2x3", Nan::gradients);
    all.add("scatter 1 of 2x4", "2x4 2x3", [=](V x, V source) { return scatter(x, 1, places, source); });
    all.add("scatter 0", "4x3 2x3", [=](V x, V source) { return scatter(x, 0, places, source); });
    all.add("scatter 1 twice", "2x4 2x3", [=](V x, V source) { return scatter(x, 1, twice, source); });
    all.add("scatter of a smaller index", {"4x3 2x4", Nan::products},
            [=](V x, V source) { return scatter(x, 0, few, source, Scatter::sum); });
    for (const auto& [name, how] : {std::pair{"prod", Scatter::prod}, {"mean", Scatter::mean}, {"sum", Scatter::sum}}) {
        const Scatter h = how;
        all.add(fmt::format("scatter {}", name), "2x4 2x3", [=](V x, V s) { return scatter(x, 1, twice, s, h); });
        all.add(fmt::format("scatter {} alone", name), {"2x4 2x3", Nan::products},
                [=](V x, V s) { return scatter(x, 1, twice, s, h, false); });
    }
    all.add("scatter max", maxima, [=](V x, V s) { return scatter(x, 1, twice, s, Scatter::max); });
    all.add("scatter min alone", maxima, [=](V x, V s) { return scatter(x, 1, twice, s, Scatter::min, false); });
    all.add("gather of a smaller index", {"4x4", Nan::products}, [=](V x) { return gather(x, 0, few); });
}

}  // namespace

template <class T>
OpCases<T> composed_cases() {
    using V = const Tensor<T>&;
    const std::string any = "4x6 | 5 | 2x3x4";
    OpCases<T> all;
    all.add("pad", any, [](V x) { return pad(x, {1, 2}, 0.5); });
    all.add("pad and cut", "4x6 | 2x3x4", [](V x) { return pad(x, {1, -2, -1, 3}); });
    all.add("pad reflect", "4x6 | 3x3x4", [](V x) { return pad(x, {1, -2, 2, 1}, Padding::reflect); });
    all.add("pad replicate", "4x6 | 2x3x4", [](V x) { return pad(x, {1, 9, 2, -1}, Padding::replicate); });
    all.add("pad circular", any, [](V x) { return pad(x, {3, 2}, Padding::circular); });
    all.add("flip", "4x6 | () | 5 | 2x3x4", [](V x) { return flip(x); });
    all.add("flip 1", "4x6 | 2x3x4", [](V x) { return flip(x, 1); });
    all.add("roll 2 1", "4x6 | 2x3x4 | 3x1", [](V x) { return roll(x, 2, 1); });
    all.add("roll -1 0", any, [](V x) { return roll(x, -1, 0); });
    all.add("tile", "4x6 | () | 5 | 2x1x3", [](V x) { return tile(x, {2, 3}); });
    all.add("one_hot", {"2x3x5", Nan::products}, [](V x) { return mul(one_hot<T>(some_ids({2, 3}, 5), 5), x); });
    all.add("cummax 1", {"4x6 | 2x3x4", Nan::gradients}, [](V x) { return cummax(x, 1).values; });
    all.add("cummax 0", {"4x6 | () | 5", Nan::gradients}, [](V x) { return cummax(x, 0).values; });
    all.add("cumprod -1", "4x6 | () | 5 | 2x3x4", [](V x) { return cumprod(x, -1); });
    all.add("cumprod 0", "4x6 | 2x3x4", [](V x) { return cumprod(x, 0); });
    all.add("cummin 1", {"4x6 | 2x3x4", Nan::gradients}, [](V x) { return cummin(x, 1).values; });
    all.add("logcumsumexp 1", "4x6 | 2x3x4", [](V x) { return logcumsumexp(x, 1); });
    all.add("logcumsumexp 0", "4x6 | () | 5", [](V x) { return logcumsumexp(x, 0); });
    all.add("diagonal", "4x6 | 2x3x4 | 3x2", [](V x) { return diagonal(x); });
    all.add("diagonal 1 -1 0", "4x6 | 2x3x4 | 3x2x3", [](V x) { return diagonal(x, 1, -1, 0); });
    add_norms(all);
    add_windows(all);
    add_scatters(all);
    return all;
}

template OpCases<float> composed_cases();
template OpCases<double> composed_cases();

}  // namespace inkling
