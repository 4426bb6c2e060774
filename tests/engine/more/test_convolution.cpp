// Convolutions and pooling against plain loops, on shapes around those of vectors and blocks. The numbers are small
// integers, so their sums are exact in any order.

namespace {

template <class T>
Array<T> integers(const Shape& shape, std::uint64_t seed) {
    Array<T> a = cast<T>(random_ids(shape, 7, seed));
    a -= 3;
    return a;
}

std::size_t along(const AxisSizes& sizes, std::size_t axis) { return sizes[sizes.size() == 1 ? 0 : axis]; }

// The row or column that place k of window p is in; one below 0 becomes large.
std::size_t in_image(std::size_t p, std::size_t k, const auto& o, std::size_t axis) {
    return p * along(o.stride, axis) + k * along(o.dilation, axis) - along(o.padding, axis);
}

struct Case {
    Shape x, weight;  // (B, C, H, W) and (O, C / groups, Kh, Kw)
    ConvOptions options = {};
};

const std::vector<Case> kCases = {
    {{2, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 2, 5, 7}, {3, 2, 1, 1}},
    {{2, 3, 6, 7}, {7, 3, 3, 3}, {.padding = 1}},
    {{3, 2, 9, 8}, {9, 2, 2, 5}, {.padding = {0, 3}}},
    {{2, 2, 5, 33}, {6, 2, 4, 4}, {.padding = {4, 2}}},
    {{1, 3, 11, 17}, {13, 3, 3, 3}, {.stride = 2, .padding = 1}},
    {{2, 1, 10, 40}, {2, 1, 3, 2}, {.stride = {3, 4}, .padding = 2}},
    {{1, 2, 12, 19}, {5, 2, 3, 4}, {.padding = 2, .dilation = {2, 3}}},
    {{2, 4, 9, 13}, {6, 2, 3, 3}, {.stride = {1, 3}, .padding = {3, 1}, .dilation = {3, 2}, .groups = 2}},
    {{2, 3, 8, 9}, {3, 1, 2, 3}, {.stride = 2, .groups = 3}},
    {{1, 1, 1, 65}, {2, 1, 1, 5}, {.padding = {0, 2}}},
    {{19, 2, 4, 4}, {2, 2, 4, 4}, {.padding = 1}},
    {{1, 100, 30, 10}, {1, 100, 3, 3}, {.padding = 1}},  // these have several blocks
    {{1, 100, 40, 11}, {2, 100, 3, 2}, {.stride = 2, .padding = 1}},
    {{1, 1, 30, 10}, {100, 1, 3, 3}, {.padding = 2}},
};

// Calls term(i, k, j) for each product of x_i and w_k in y_j.
void each_term(const Case& c, const Shape& y, const auto& term) {
    const std::size_t in = c.weight[1], outs = c.weight[0] / c.options.groups, kernel = c.weight[2] * c.weight[3];
    for (std::size_t j = 0; j < size_of(y); ++j) {
        const std::size_t out = j / (y[2] * y[3]) % y[1], first = j / (y[1] * y[2] * y[3]) * c.x[1] + out / outs * in;
        for (std::size_t k = 0; k < in * kernel; ++k) {
            const std::size_t row = in_image(j / y[3] % y[2], k % kernel / c.weight[3], c.options, 0);
            const std::size_t column = in_image(j % y[3], k % c.weight[3], c.options, 1);
            if (row < c.x[2] && column < c.x[3])
                term(((first + k / kernel) * c.x[2] + row) * c.x[3] + column, out * in * kernel + k, j);
        }
    }
}

}  // namespace

TEMPLATE_TEST_CASE("convolution: it is the plain loop, with any threads", "[engine]", float, double) {
    for (const Case& c : kCases) {
        INFO("x " << to_string(c.x) << ", weight " << to_string(c.weight));
        const Array<T> x = integers<T>(c.x, 1), w = integers<T>(c.weight, 2), bias = integers<T>({c.weight[0]}, 3);
        const auto convolve = [&](const auto& in) { return conv2d(in[0], in[1], in[2], c.options); };
        const Shape shape = convolve(std::vector{Tensor<T>(x), Tensor<T>(w), Tensor<T>(bias)}).shape();
        const Array<T> dy = integers<T>(shape, 4);
        Array<T> y(shape, T{0}), dx(c.x, T{0}), dw(c.weight, T{0});
        each_term(c, shape, [&](std::size_t i, std::size_t k, std::size_t j) {
            y.data()[j] += x.data()[i] * w.data()[k];
            dx.data()[i] += dy.data()[j] * w.data()[k];
            dw.data()[k] += dy.data()[j] * x.data()[i];
        });
        const auto result = run<T>(convolve, std::vector<ConstArray<T>>{x, w, bias}, dy);
        check_close(result.value, add(Tensor<T>(y), reshape(Tensor<T>(bias), {-1, 1, 1})).value(), 0);
        check_close(result.grads[0], dx, 0, "dx"), check_close(result.grads[1], dw, 0, "dw");
        check_close(result.grads[2], sum(Tensor<T>(dy), {0, 2, 3}).value(), 0, "db");
        ConvOptions o = c.options;
        o.output_padding = {0, 0};
        for (std::size_t i = 0; i < 2; ++i)
            o.output_padding[i] =
                c.x[2 + i] - 1 - in_image(shape[2 + i] - 1, c.weight[2 + i] - 1, o, i) + along(o.padding, i);
        const auto turned = run<T>([&](const auto& in) { return conv_transpose2d(in[0], in[1], {}, o); },
                                   std::vector<ConstArray<T>>{dy, w}, x);
        check_close(turned.value, dx, 0, "transposed"), check_close(turned.grads[0], y, 0, "transposed, dx");
        check_close(turned.grads[1], dw, 0, "transposed, dw");
    }
    check_same_with_any_threads("conv2d", [] {
        const std::vector<Array<T>> at{random_array<T>({37, 3, 15, 14}, 1), random_array<T>({5, 3, 3, 3}, 2)};
        return all_of(run<T>([](const auto& in) { return conv2d(in[0], in[1], {}, {.padding = 1}); }, at));
    });
}

TEST_CASE("convolution: in bfloat16 the factors are rounded", "[engine]") {
    const WithPrecision scope(Precision::bf16);
    const auto x = Tensor<float>::full({1, 1, 1, 2}, 1.001F), w = Tensor<float>::full({1, 1, 1, 1}, 3.0F, true);
    const auto y = conv2d(x, w);
    check_equal(y.value(), {3, 3});
    backward(sum(y));
    check_equal(w.grad(), {2});
}

TEMPLATE_TEST_CASE("max_pool2d: the first maximum has the gradient", "[engine]", float, double) {
    const std::vector<std::pair<AxisSizes, PoolOptions>> cases = {
        {2, {}},
        {3, {.stride = 1, .padding = 1}},
        {{2, 5}, {.stride = {1, 3}, .padding = {0, 2}, .ceil_mode = true}},
        {{3, 2}, {.stride = 2, .padding = 1, .dilation = {1, 2}, .ceil_mode = true}}};
    for (const auto& [size, given] : cases)
        for (const std::size_t width : {5, 16, 37}) {
            PoolOptions o = given;
            if (o.stride.empty()) o.stride = size;
            INFO("windows of " << to_string(size) << ", width " << width);
            const Array<T> x = integers<T>({2, 3, 7, width}, width);
            const auto pool = [&](const auto& in) { return max_pool2d(in[0], size, given); };
            const Shape shape = pool(std::vector{Tensor<T>(x)}).shape();
            const Array<T> dy = integers<T>(shape, 4);
            Array<T> y(shape, T{-9}), dx(x.shape(), T{0});
            for (std::size_t j = 0; j < y.size(); ++j) {
                std::size_t best = 0;
                for (std::size_t k = 0; k < along(size, 0) * along(size, 1); ++k) {
                    const std::size_t row = in_image(j / shape[3] % shape[2], k / along(size, 1), o, 0);
                    const std::size_t column = in_image(j % shape[3], k % along(size, 1), o, 1);
                    const std::size_t i = (j / (shape[2] * shape[3]) * 7 + row) * width + column;
                    if (row < 7 && column < width && x.data()[i] > y.data()[j]) y.data()[j] = x.data()[best = i];
                }
                dx.data()[best] += dy.data()[j];
            }
            const auto result = run<T>(pool, std::vector<ConstArray<T>>{x}, dy);
            check_close(result.value, y, 0), check_close(result.grads[0], dx, 0, "gradient");
        }
}

TEST_CASE("convolution: impossible sizes are refused", "[engine]") {
    const auto x = Tensor<double>::zeros({1, 2, 3, 4}), w = Tensor<double>::zeros({4, 2, 2, 2});
    CHECK_THROWS_WITH(conv2d(x, w, {}, {.stride = 0}),
                      contains("conv2d: expected windows of 1 to 3 elements", "step 0"));
    CHECK_THROWS_WITH(conv2d(x, Tensor<double>::zeros({4, 2, 2, 5})),
                      contains("conv2d: expected windows of 1 to 4 elements"));
    CHECK_THROWS_WITH(conv2d(x, w, Tensor<double>::zeros({2})),
                      contains("conv2d: expected a bias of shape (4,)", "got (2,)"));
    CHECK_THROWS_WITH(conv_transpose2d(x, Tensor<double>::zeros({2, 1, 2, 2}), {}, {.padding = 3}),
                      contains("conv_transpose2d: expected a stride above 0, and padding"));
}
