// The fused attention against the composed one, its oracle: values and gradients on ragged sizes.
#include "engine/fused/attention.h"

#include "nn/attention/masks.h"
#include "nn/attention/multi_head.h"
#include "tests/nn/attention/compare.h"

template <class T>
static void check_fused(const Sizes& s, const AttentionOptions& options, std::uint64_t seed) {
    INFO("B " << s.B << ", H " << s.H << ", K " << s.K << ", Lq " << s.Lq << ", Lk " << s.Lk << ", d " << s.d << ", dv "
              << s.dv << ", causal " << options.causal << ", mask " << to_string(options.mask.shape()) << ", dropout "
              << options.dropout << ", ALiBi " << !options.alibi.empty() << ", window " << options.window);
    const double tolerance = std::is_same_v<T, double> ? 1e-12 : 2e-5;
    const auto qkv = random_qkv<T>(s, seed);
    const Computed<T> fused = attend(qkv, options, NeedWeights::no), composed = attend(qkv, options, NeedWeights::yes);
    check_close(fused.value, composed.value, tolerance, "output");
    const char* names[] = {"q", "k", "v"};
    for (std::size_t i = 0; i < 3; ++i)
        check_gradient(fused.grads[i], composed.grads[i], tolerance, std::string("gradient of ") + names[i]);
}

// A random mask in which every query sees the first key.
static MaskArray random_mask(const Shape& shape, std::uint64_t seed) {
    MaskArray mask(shape);
    for (std::size_t i = 0; i < mask.size(); ++i)
        mask.data()[i] = i % shape.back() == 0 || random_below({seed, 3}, i, 3) > 0;
    return mask;
}

// Combination number i of the options. Every pair of options occurs.
static AttentionOptions options_number(std::size_t i, const Sizes& s) {
    AttentionOptions options;
    options.causal = i % 2;
    const std::vector<Shape> masks = {
        {}, {s.B, 1, 1, s.Lk}, {s.Lq, s.Lk}, {}, {s.B, s.H, s.Lq, s.Lk}, {1, s.H, 1, s.Lk}, {s.Lq, 1}};
    if (const Shape& shape = masks[i % masks.size()]; !shape.empty()) options.mask = random_mask(shape, i);
    if (i % 3 == 1) options.dropout = 0.1 * static_cast<double>(1 + i % 5), options.dropout_key = {i, 2 * i};
    if (i % 5 == 2) options.alibi = nn::alibi_slopes(s.H);
    if (i % 11 == 3) options.scale = 0.7;
    if (options.causal && i % 4 == 3 && !options.mask.defined()) options.window = 1 + i % 50;
    return options;
}

const std::vector<std::size_t> kLengths = {1, 2, 31, 32, 33, 64, 65, 127, 130};
const std::vector<std::size_t> kWidths = {1, 3, 4, 8, 16, 24, 32, 33, 64, 96};

TEMPLATE_TEST_CASE("fused attention: as composed, in windows, with shared keys", "[nn]", float, double) {
    // 63 combinations: every length as Lk with seven of the widths, Lq at or below it, and the options in turn.
    std::size_t i = 0;
    for (std::size_t length = 0; length < kLengths.size(); ++length)
        for (std::size_t repeat = 0; repeat < 7; ++repeat, ++i) {
            const std::size_t Lq = repeat % 3 == 1 ? kLengths[i * 5 % (length + 1)] : kLengths[length];
            const Sizes s{1 + i % 2,
                          1 + i % 3,
                          Lq,
                          kLengths[length],
                          kWidths[(length + 3 * repeat) % kWidths.size()],
                          kWidths[(length * 3 + repeat + i % 4) % kWidths.size()]};
            check_fused<T>(s, options_number(i, s), 100 + i);
        }
    for (const std::size_t window : {1, 33, 511, 512, 513, 700})
        for (const auto& [Lq, Lk] : {std::pair<std::size_t, std::size_t>{1030, 1030}, {70, 1030}, {1, 600}}) {
            AttentionOptions options{.causal = true, .window = window};
            if (window % 2) options.dropout = 0.2, options.dropout_key = {window, Lq};
            check_fused<T>({1, 2, Lq, Lk, 8, 12, 1}, options, window);
        }
    const auto qkv = random_qkv<T>({2, 2, 600, 600, 16, 8}, 70);
    const Computed<T> a = attend(qkv, {.causal = true}, NeedWeights::no),
                      b = attend(qkv, {.causal = true, .window = 600}, NeedWeights::no);
    CHECK(same_bits(a.value, b.value));
    for (std::size_t k = 0; k < 3; ++k) CHECK(same_bits(a.grads[k], b.grads[k]));
    const AttentionOptions wrong{.window = 3};
    for (const NeedWeights wanted : {NeedWeights::no, NeedWeights::yes})
        CHECK_THROWS_WITH(attend(qkv, wrong, wanted), contains("a window is for causal attention, got 3"));
    const AttentionOptions options{.causal = true, .dropout = 0.2, .dropout_key = {3, 4}};
    for (const std::size_t group : {2, 3, 4, 8}) {
        const std::vector<Array<T>> grouped = random_qkv<T>({2, 2 * group, 65, 70, 16, 24, 2}, 20);
        const auto repeated = [&](const auto& in) {
            return attention(in[0], repeat(in[1], group, 1), repeat(in[2], group, 1), options);
        };
        const Computed<T> shared = attend(grouped, options, NeedWeights::no), copies = run<T>(repeated, grouped);
        INFO("group of " << group);
        CHECK(same_bits(shared.value, copies.value));
        for (std::size_t k = 0; k < 3; ++k) CHECK(same_bits(shared.grads[k], copies.grads[k]));
    }
}

TEMPLATE_TEST_CASE("fused attention: documents in a row see themselves alone", "[nn]", float, double) {
    const std::vector<std::vector<std::size_t>> lengths = {{70, 1, 33, 26}, {130}, {5, 125}};
    AttentionOptions options;
    options.causal = true;
    IdArray begins({3, 130});
    for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t at = 0, n = 0; n < lengths[b].size(); at += lengths[b][n++])
            for (std::size_t i = 0; i < lengths[b][n]; ++i) begins(b, at + i) = static_cast<std::int32_t>(at);
    options.documents = begins;
    for (const bool more : {false, true}) {
        if (more) options.dropout = 0.3, options.dropout_key = {3, 4}, options.alibi = {0.01, 0.5};
        for (const std::size_t d : {4, 16}) check_fused<T>({3, 2, 130, 130, d, 8, d == 4 ? 2u : 1u}, options, 50);
    }
    // each has the same output and gradients as alone, to the last bit
    options.dropout = 0;
    const auto qkv = random_qkv<T>({3, 2, 130, 130, 16, 8}, 60);
    const Computed<T> all = attend(qkv, options, NeedWeights::no);
    AttentionOptions alone = options;
    alone.documents = {};
    for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t at = 0, n = 0; n < lengths[b].size(); at += lengths[b][n++]) {
            const auto part = [&](const auto& x) {
                return Array<T>(x.sliced(0, b, b + 1).sliced(2, at, at + lengths[b][n]).clone());
            };
            const Computed<T> one = attend<T>({part(qkv[0]), part(qkv[1]), part(qkv[2])}, alone, NeedWeights::no);
            CHECK(same_bits(part(all.value), Array<T>(one.value.clone())));
        }
    IdArray wrong = begins.clone();
    wrong(0, 3) = 1;
    CHECK_THROWS_WITH(Documents(wrong), contains("position 3 of row 0"));
    CHECK_THROWS_WITH(Documents(IdArray({130}, 0)), contains("(B, L), got (130,)"));
    AttentionOptions refused = options;
    refused.causal = false;
    CHECK_THROWS_WITH(attend(qkv, refused, NeedWeights::no), contains("is for causal attention"));
}

TEMPLATE_TEST_CASE("fused attention: without queries, of many keys, of large scores", "[nn]", float, double) {
    const Array<T> q({1, 2, 0, 16}), k({1, 2, 70, 16}, T{3}), v({1, 2, 70, 16}, T{5});
    for (const bool causal : {false, true}) {
        const AttentionOptions options{.causal = causal};
        { const Array<T> stale(k.shape(), T{7}), more(k.shape(), T{7}); }  // what the pool hands out next
        const auto result =
            run<T>([&](const auto& in) { return attention(in[0], in[1], in[2], options); }, {q, k, v}, q);
        CHECK(same_bits(result.grads[1], Array<T>(k.shape(), T{0})));
        CHECK(same_bits(result.grads[2], Array<T>(v.shape(), T{0})));
    }
    MaskArray mask = random_mask({1, 1, 1, 1100}, 5);
    std::fill_n(mask.data(), 600, std::uint8_t{0});  // a first block without any key that may be seen
    const AttentionOptions causal{.causal = true, .dropout = 0.2, .dropout_key = {3, 4}}, masked{.mask = mask},
        alibi{.causal = true, .alibi = {0.01, 0.5}};
    check_fused<T>({1, 2, 600, 600, 8, 4}, causal, 1);
    check_fused<T>({1, 1, 40, 1100, 4, 8}, masked, 2);
    check_fused<T>({1, 2, 70, 1100, 4, 3}, alibi, 3);
    check_fused<T>({1, 1, 3, 513, 33, 33}, {}, 4);
    check_fused<T>({2, 4, 130, 600, 8, 4, 2}, options_number(1, {2, 4, 130, 600, 8, 4}), 400);  // shared keys
    check_fused<T>({1, 3, 130, 33, 16, 16}, {}, 2);  // more queries than keys, where nothing is causal
    for (const double scale : {-0.4, 0.0}) {         // a scale that is negative or 0
        check_fused<T>({2, 2, 33, 40, 8, 8}, {.scale = scale, .causal = true}, 7);
        check_fused<T>({1, 2, 9, 9, 4, 4}, {.scale = scale, .causal = true, .alibi = {0.1, 0.2}}, 8);
    }
    // One key per block stands out, each more than the last; the exponentials of the others vanish or would overflow.
    Array<T> large_q({1, 1, 2, 1}, T{1}), large_k({1, 1, 1030, 1}, T{0});
    large_q.data()[1] = T{-1};
    large_k.data()[10] = T{500}, large_k.data()[600] = T{2000}, large_k.data()[1029] = T{9000};
    const std::vector<Array<T>> qkv = {large_q, large_k, random_array<T>({1, 1, 1030, 3}, 9)};
    const Computed<T> fused = attend(qkv, {}, NeedWeights::no), composed = attend(qkv, {}, NeedWeights::yes);
    check_close(fused.value, composed.value, 1e-5);
    check_close(ConstArray<T>(fused.value.sliced(2, 0, 1)), ConstArray<T>(qkv[2].sliced(2, 1029, 1030)), 1e-6);
}

TEST_CASE("fused attention: scores near the largest float pick one key", "[nn]") {
    Array<float> q({1, 1, 1, 1}, 3e18f), k({1, 1, 40, 1}, 1e18f);
    k.data()[17] = 1.3e19f;
    const Array<float> v = random_array<float>({1, 1, 40, 3}, 1);
    const AttentionOptions options{.scale = 0.7};  // the product with the scale is not a float
    const Computed<float> fused = attend(std::vector{q, k, v}, options, NeedWeights::no);
    check_close(fused.value, Array<float>(v.sliced(2, 17, 18)), 0);
    double elsewhere = 0;
    for (std::size_t i = 0; i < v.size(); ++i) elsewhere += i / 3 == 17 ? 0 : std::abs(fused.grads[2].data()[i]);
    CHECK_ALL(elsewhere == 0, fused.grads[2].data()[17 * 3] != 0);
}
