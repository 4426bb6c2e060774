// The fused attention gives the same result for any layout of its inputs and any number of threads.
#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "tests/nn/attention/compare.h"

static AttentionOptions everything(std::size_t heads) {
    return {.causal = true, .dropout = 0.2, .dropout_key = {1, 2}, .alibi = alibi_slopes(heads)};
}

TEMPLATE_TEST_CASE("fused attention: same bits with any number of threads", "[nn][unsanitized]", float, double) {
    for (const std::size_t L : {33, 130, 520})
        for (const std::size_t K : {3, 1}) {
            const auto qkv = random_qkv<T>({2, 3, L, L, 24, 17, K});
            check_same_with_any_threads("attention, L " + std::to_string(L) + ", K " + std::to_string(K),
                                        [&] { return all_of(attend(qkv, everything(3), NeedWeights::no)); });
        }
}

TEMPLATE_TEST_CASE("fused attention: pieces of one packed tensor are as their copies", "[nn]", float, double) {
    const std::size_t B = 2, L = 65, H = 3, d = 8, C = H * d;
    const Array<T> packed = random_array<T>({B, L, 3 * C}, 1);
    const auto heads = [&](const Tensor<T>& x) { return split_heads(x, H); };
    const auto strided = [&](const auto& in) {
        const auto qkv = split(in[0], 3, -1);
        return scaled_dot_product_attention(heads(qkv[0]), heads(qkv[1]), heads(qkv[2]), everything(H), NeedWeights::no)
            .output;
    };
    std::vector<Array<T>> copies;
    for (std::size_t i = 0; i < 3; ++i)
        copies.push_back(packed.sliced(2, i * C, (i + 1) * C).reshaped({B, L, H, d}).transposed(1, 2).clone());
    const Computed<T> a = run<T>(strided, {packed}), b = attend(copies, everything(H), NeedWeights::no);
    CHECK(same_bits(a.value, b.value));
    for (std::size_t i = 0; i < 3; ++i) {
        const Array<T> part = a.grads[0].sliced(2, i * C, (i + 1) * C).reshaped({B, L, H, d}).transposed(1, 2);
        CHECK(same_bits(part, b.grads[i]));
    }
}

TEMPLATE_TEST_CASE("fused attention: any strides, and one row broadcast to all positions", "[nn]", float, double) {
    const Array<T> q = random_array<T>({2, 2, 8, 33}, 1).transposed(2, 3);                // columns side by side
    const ConstArray<T> k = random_array<T>({1, 2, 1, 8}, 2).broadcasted({2, 2, 40, 8});  // every key the same
    const Array<T> v = random_array<T>({2, 2, 80, 10}, 3).sliced(2, 0, 80, 2).sliced(3, 0, 10, 2);
    const auto f = [](const auto& in) {
        return scaled_dot_product_attention(in[0], in[1], in[2], {}, NeedWeights::no).output;
    };
    const ConstArray<T> dy = random_array<T>({1, 2, 1, 5}, 4).broadcasted({2, 2, 33, 5});
    const Computed<T> a = run<T>(f, {q, k, v}, dy), b = run<T>(f, {q.clone(), k.clone(), v.clone()}, dy.clone());
    CHECK(same_bits(a.value, b.value));
    for (std::size_t i = 0; i < 3; ++i) CHECK(same_bits(a.grads[i], b.grads[i]));
    // Equal keys: each query gets the mean of the values.
    for (std::size_t i = 0; i < 5; ++i) {
        double total = 0;
        for (std::size_t j = 0; j < 40; ++j) total += static_cast<double>(v(0, 1, j, i));
        CHECK(static_cast<double>(a.value(0, 1, 7, i)) == Approx(total / 40).epsilon(1e-4).margin(1e-5));
    }
}

TEMPLATE_TEST_CASE("fused attention: gradients add up, and only wanted ones are computed", "[nn]", float, double) {
    const Array<T> x = random_array<T>({1, 2, 33, 8}, 1), dy = random_array<T>({1, 2, 33, 8}, 2);
    const auto attended = [](const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v) {
        return scaled_dot_product_attention(q, k, v, everything(2), NeedWeights::no).output;
    };
    const Tensor<T> q(x, true), k(x, true), v(x, true);
    backward(attended(q, k, v), dy);
    const Array<T> dq = q.grad().clone(), dk = k.grad().clone(), dv = v.grad().clone();
    backward(attended(q, k, v), dy);
    for (const auto& [tensor, once] : {std::pair{q, dq}, std::pair{k, dk}, std::pair{v, dv}})
        check_close(tensor.grad(), Array<T>(once * T{2}), 1e-6);
    const Tensor<T> alone(x, true);
    backward(attended(Tensor<T>(x), alone, Tensor<T>(x)), dy);
    CHECK(same_bits(alone.grad(), dk));
    const Tensor<T> plain(x);
    CHECK_FALSE(attended(plain, plain, plain).requires_grad());
}
