// Products in bfloat16: the operands that are rounded, the scope of the setting, and that threads change no bit.
#include "engine/array/axes.h"
#include "engine/weights/operand.h"

static Array<float> rounded(const ConstArray<float>& x) { return widen(round_to_bfloat16(x)); }

TEST_CASE("precision: holds for a scope, and for double never", "[engine]") {
    CHECK(product_precision() == Precision::fp32);
    {
        const WithPrecision scope(Precision::bf16);
        CHECK(product_precision() == Precision::bf16);
        {
            const WithPrecision inner(Precision::fp32);
            CHECK(product_precision() == Precision::fp32);
        }
        CHECK(product_precision() == Precision::bf16);
        const Array<double> a = random_array<double>({3, 4}, 1), b = random_array<double>({4, 2}, 2);
        Array<double> c({3, 2}), exact({3, 2});
        product(Operand<double>(a), Operand<double>(b), c);
        gemm(a, b, exact);
        CHECK_ALL(same_bits(c, exact), Operand<double>(a).precision() == Precision::fp32);
    }
    CHECK(product_precision() == Precision::fp32);
    const Operand<float> full(Array<float>({2, 2}, 1.0f), Precision::fp32),
        half(Array<float>({2, 2}, 1.0f), Precision::bf16);
    Array<float> c({2, 2});
    CHECK_THROWS_WITH(product(full, half, c), contains("same precision"));
}

TEST_CASE("precision: linear and matmul in bf16 are those of rounded operands, backward as forward", "[engine]") {
    for (const std::size_t rows : {3, 40, 200})
        for (const std::size_t width : {5, 48, 130}) {
            const Array<float> x = random_array<float>({rows, width}, 1), w = random_array<float>({33, width}, 2),
                               bias = random_array<float>({33}, 3), dy = random_array<float>({rows, 33}, 4);
            INFO("rows " << rows << ", width " << width);
            const auto with_bias = [](const auto& in) { return linear(in[0], in[1], in[2]); };
            const auto product = [](const auto& in) { return matmul(in[0], transpose(in[1], 0, 1)); };
            const auto in_bf16 = [&](const auto& op, const std::vector<ConstArray<float>>& at) {
                const WithPrecision scope(Precision::bf16);
                return run<float>(op, at, dy);
            };
            const auto linear_half = in_bf16(with_bias, {x, w, bias}), half = in_bf16(product, {x, w});
            const auto linear_full = run<float>(with_bias, {rounded(x), rounded(w), bias}, rounded(dy));
            const auto full = run<float>(product, {rounded(x), rounded(w)}, rounded(dy));
            for (const auto& [got, expected] : {std::pair(linear_half, linear_full), std::pair(half, full)}) {
                check_close(got.value, expected.value, 1e-5);
                for (std::size_t i = 0; i < 2; ++i) check_close(got.grads[i], expected.grads[i], 1e-5);
            }
            check_close(linear_half.grads[2], sum_over<float>(dy, {0}), 1e-5);  // no product: nothing is rounded
            CHECK_FALSE(same_bits(linear_half.value, run<float>(with_bias, {x, w, bias}, dy).value));
        }
    const Tensor<float> x(random_array<float>({4, 40}, 1), true), w(random_array<float>({30, 40}, 2), true);
    Tensor<float> y;
    {
        const WithPrecision scope(Precision::bf16);
        y = linear(x, w);
    }
    const Array<float> dy = random_array<float>({4, 30}, 3);
    backward(y, dy);
    Array<float> dx({4, 40});
    gemm(rounded(dy), rounded(w.value()), dx);
    check_close(x.grad(), dx, 1e-6);
}

TEST_CASE("precision: attention in bf16 is near that of float, ragged sizes and options", "[engine][unsanitized]") {
    std::size_t number = 0;
    for (const std::size_t length : {1, 2, 7, 31, 33, 64, 100, 515})
        for (const std::size_t depth : {1, 2, 6, 16, 32, 34, 64}) {
            AttentionOptions options;
            options.scale = 1 / std::sqrt(static_cast<double>(depth)), options.causal = number % 2;
            if (number % 3 == 0) options.dropout = 0.2, options.dropout_key = {7, 7};
            if (number % 5 == 0) options.alibi = {0.5, 0.25};
            ++number;
            INFO("length " << length << ", depth " << depth << ", causal " << options.causal << ", dropout "
                           << options.dropout << ", alibi " << options.alibi.size());
            const Shape shape{1, 2, length, depth}, shared{1, number % 4 == 1 ? 1u : 2u, length, depth};
            const std::vector<Array<float>> qkv{rounded(random_array<float>(shape, 1)),
                                                rounded(random_array<float>(shared, 2)),
                                                rounded(random_array<float>(shared, 3))};
            const Array<float> dy = rounded(random_array<float>(shape, 4));
            const auto f = [&](const auto& in) { return inkling::attention(in[0], in[1], in[2], options); };
            const auto full = run<float>(f, qkv, dy);
            const WithPrecision scope(Precision::bf16);
            const auto half = run<float>(f, qkv, dy);
            check_close(half.value, full.value, 0.03, "output");
            for (std::size_t i = 0; i < 3; ++i) {  // with one key dQ and dK are differences of equal numbers, near 0
                const Array<float> shift(full.grads[i].shape(), length == 1 ? 1.0f : 0.0f);
                check_close(Array<float>(half.grads[i] + shift), Array<float>(full.grads[i] + shift), 0.05, "gradient");
            }
        }
}

TEST_CASE("precision: the same bits in bf16 with any number of threads", "[engine][unsanitized]") {
    const WithPrecision scope(Precision::bf16);
    const auto f = [](const auto& in) { return linear(in[0], in[1]); };
    for (const Shape& shape : {Shape{768, 128, 384}, Shape{2048, 384, 65}, Shape{96, 1536, 70}, Shape{37, 51, 153}})
        check_same_with_any_threads("linear " + to_string(shape), [&] {
            return all_of(run<float>(
                f, {random_array<float>({shape[0], shape[1]}, 1), random_array<float>({shape[2], shape[1]}, 2)}));
        });
    AttentionOptions options;
    options.causal = true;
    const auto g = [&](const auto& in) { return inkling::attention(in[0], in[1], in[2], options); };
    check_same_with_any_threads("attention", [&] {
        const Shape shape{3, 4, 65, 32};
        return all_of(run<float>(
            g, {random_array<float>(shape, 1), random_array<float>(shape, 2), random_array<float>(shape, 3)}));
    });
}

TEST_CASE("precision: attention's recomputed output is the one that a product took", "[engine][unsanitized]") {
    const WithPrecision scope(Precision::bf16);
    const Shape shape{2, 4, 512, 128};  // 2 MiB: worth to be made again
    const Tensor<float> q(random_array<float>(shape, 1), true), k(random_array<float>(shape, 2)),
        v(random_array<float>(shape, 3)), y = inkling::attention(q, k, v, {.scale = 0.1});
    const Array<float> copy = y.value().clone(), weight = random_array<float>({3, 512}, 4);
    REQUIRE(y.node()->output->recompute);
    const auto gradient = [&](const Tensor<float>& x) {  // of a product's weight
        const Tensor<float> w(weight, true);
        backward(linear(reshape(transpose(x, 1, 2), {1024, 512}), w), random_array<float>({1024, 3}, 5));
        return w.grad();
    };
    CHECK(same_bits(gradient(y), gradient(Tensor<float>(copy))));
}

TEST_CASE("precision: bf16 rounds what an op keeps only where a product would round it anyway", "[engine]") {
    const Array<float> x = random_array<float>({1 << 19}, 1), dy = random_array<float>({1 << 19}, 2);
    for (const auto& op :
         {+[](const Tensor<float>& in) { return silu(in); }, +[](const Tensor<float>& in) { return tanh(in); }}) {
        const auto f = [&](const auto& in) { return op(in[0]); };
        const auto exact = run<float>(f, {x}, dy);
        const WithPrecision scope(Precision::bf16);
        CHECK(same_bits(run<float>(f, {x}, dy).grads[0], exact.grads[0]));
    }
}
