// Attention of one token over a cache against sums in double.
#include "models/inference/cached_attention.h"

#include "engine/kernels/half_row.h"
#include "engine/ops/plain/attention.h"

TEST_CASE("inference: attention over a cache is that of double, however threads share it", "[models]") {
    for (const std::size_t d : {2, 8, 20, 40, 64, 72, 128})
        for (const std::size_t n : {1, 2, 7, 64, 65, 200}) {
            const std::size_t G = n == 65 ? 1 : 3;
            const HeadShape head{G, d, whole_lines(n)};
            const Array<float> q = random_array<float>({G, d}, 1), k = random_array<float>({n, d}, 2),
                               v = random_array<float>({n, d}, 3);
            const auto attended = [&](std::size_t position, std::size_t column) {  // where they are cut
                Array<float> room({head.room()}), scores({G, head.stride}), y({G, d});
                attention_scores(head, q.data(), k.data(), position, n, 0.5f, scores.data());
                attention_scores(head, q.data(), k.data(), 0, position, 0.5f, scores.data());
                attention_values(head, scores.data(), n, v.data(), column, d, room.data(), y.data());
                attention_values(head, scores.data(), n, v.data(), 0, column, room.data(), y.data());
                return y;
            };
            INFO("head size " << d << ", " << n << " positions");
            const Array<float> y = attended(0, 0);
            const auto wide = [](const Array<float>& x, const Shape& shape) {
                return Tensor<double>(cast<double>(x.reshaped(shape)));
            };
            const auto want =
                plain::attention(wide(q, {1, G, 1, d}), wide(k, {1, 1, n, d}), wide(v, {1, 1, n, d}), {.scale = 0.5});
            check_close(y, want.output.value().reshaped({G, d}), 3e-5);
            for (const std::size_t column : {std::size_t{16}, std::size_t{64}})
                if (column < d) CHECK(same_bits(y, attended(n / 3, column)));
            CHECK(same_bits(y, attended(n / 2, 0)));
            // float16 rows are those numbers, widened
            Array<float> half_k({n, (d + 1) / 2}), half_v({n, (d + 1) / 2}), room({head.room()}),
                scores({G, head.stride}), from_half({G, d}), wide_k({n, d}), wide_v({n, d}), from_wide({G, d});
            for (const auto& [x, half, widened] : {std::tuple{&k, &half_k, &wide_k}, {&v, &half_v, &wide_v}})
                for (std::size_t j = 0; j < n; ++j) {
                    auto* const row = reinterpret_cast<std::uint16_t*>(half->data() + j * half->dim(1));
                    round_row(d, x->data() + j * d, row);
                    widen_row(d, row, widened->data() + j * d);
                    for (std::size_t i = 0; i < d; ++i)
                        CHECK(widened->data()[j * d + i] == f16_to_f32(f32_to_f16(x->data()[j * d + i])));
                }
            for (const bool half : {true, false}) {
                const CachedRows keys = half ? CachedRows(half_k.data(), CacheType::f16) : wide_k.data(),
                                 values = half ? CachedRows(half_v.data(), CacheType::f16) : wide_v.data();
                Array<float>& out = half ? from_half : from_wide;
                attention_scores(head, q.data(), keys, n / 3, n, 0.5f, scores.data());
                attention_scores(head, q.data(), keys, 0, n / 3, 0.5f, scores.data());
                for (const auto& [first, last] : {std::pair{d / 32 * 16, d}, {std::size_t{0}, d / 32 * 16}})
                    attention_values(head, scores.data(), n, values, first, last, room.data(), out.data());
            }
            CHECK(same_bits(from_half, from_wide));
        }
}
