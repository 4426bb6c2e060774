// Quantized blocks: products with them are those of the widened numbers with activations rounded to 8 bits, and have
// the same bits on every kind of CPU, for any rows, batch and number of threads.

#include "engine/base/cpu.h"
#include "engine/base/half.h"
#include "engine/kernels/block_products.h"
#include "engine/weights/weight.h"

using namespace inkling::row_group;

namespace {

const std::vector<std::string> kBlockTypes = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"};

// Rows of random bytes with scales of about 0.01.
std::vector<std::byte> random_blocks(const BlockType& type, std::size_t blocks, std::uint64_t seed) {
    std::vector<std::byte> bytes(blocks * type.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(random_below({seed, 1}, i, 256));
    for (std::size_t b = 0; b < blocks; ++b)
        for (const BlockField& f : type.fields) {
            if (f.size != 2) continue;
            const std::uint16_t d = f32_to_f16(static_cast<float>(random_below({seed, 2}, b, 2001)) * 1e-5f - 0.01f);
            std::memcpy(&bytes[b * type.bytes + f.offset], &d, sizeof d);
        }
    return bytes;
}

PackedMatrix random_matrix(const BlockType& type, std::size_t rows, std::size_t columns, std::uint64_t seed = 1) {
    const auto bytes = random_blocks(type, rows * columns / type.numbers, seed);
    return {type, rows, columns, [&](std::size_t r, std::byte*) { return &bytes[r * type.row_bytes(columns)]; }};
}

// x as the product rounds it, in float: d = max |x| / 127 for each 32.
Array<float> rounded_to_8_bits(const Array<float>& x) {
    Array<float> y(x.shape());
    for (std::size_t i = 0; i < x.size(); i += 32) {
        float most = 0;
        for (std::size_t k = i; k < i + 32; ++k) most = std::max(most, std::abs(x.data()[k]));
        const float d = most / 127;
        for (std::size_t k = i; k < i + 32; ++k) y.data()[k] = d > 0 ? d * std::round(x.data()[k] / d) : 0;
    }
    return y;
}

Array<float> product_of(const PackedMatrix& w, const Array<float>& x, std::size_t begin, std::size_t end) {
    const std::size_t batch = x.dim(0);
    Array<float> y({batch, w.rows()}, 0.0f);
    w.multiply(begin, end, x.data(), batch, y.data(), w.rows());
    return y;
}

// The product of a group's 16 rows with N vectors, with lanes of one kind.
template <class L, class Product, std::size_t N>
std::vector<float> with_lanes(const std::byte* group, const Array<float>& x) {
    const std::size_t columns = x.dim(1), blocks = columns / kQ8Block;
    std::vector<RoundedBlock<N>> rounded(blocks);
    round_vectors<N>(x.data(), columns, blocks, Product::template offset<L>, rounded.data());
    std::vector<float> y(N * kRows);
    run_group<L, Product, N>({group, columns / Product::numbers, 0, blocks, rounded.data(), y.data(), false});
    return y;
}

template <class Product>
void check_every_lane(const std::string& name) {
    INFO(name);
    const BlockType& type = *block_type(name);
    const std::size_t columns = 768;
    const auto bytes = random_blocks(type, kRows * columns / type.numbers, 3);
    std::vector<std::byte> group(bytes.size());
    const std::byte* rows[kRows];
    for (std::size_t r = 0; r < kRows; ++r) rows[r] = &bytes[r * type.row_bytes(columns)];
    CHECK(type.pack(rows, kRows, columns / type.numbers, group.data()));
    const Array<float> x = random_array<float>({4, columns}, 4);
    const std::vector<float> expected = with_lanes<PortableLanes, Product, 4>(group.data(), x);
    const auto check_lanes = [&]<class L>(L) {
        CHECK(with_lanes<L, Product, 4>(group.data(), x) == expected);
        CHECK(with_lanes<L, Product, 1>(group.data(), x) ==
              std::vector<float>(expected.begin(), expected.begin() + kRows));
    };
    check_lanes(PortableLanes{});
#ifdef __AVX2__
    check_lanes(Avx2Lanes{});
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__)
    check_lanes(Avx512Lanes<false>{});
    if (has_vnni()) check_lanes(Avx512Lanes<true>{});
#endif
}

}  // namespace

TEST_CASE("blocks: every CPU multiplies to the same bits, those of rounded activations", "[engine]") {
    check_every_lane<LegacyProduct<false, false>>("Q4_0");
    check_every_lane<LegacyProduct<true, false>>("Q4_1");
    check_every_lane<LegacyProduct<false, true>>("Q5_0");
    check_every_lane<LegacyProduct<true, true>>("Q5_1");
    check_every_lane<Q8Product>("Q8_0");
    check_every_lane<KProduct<false>>("Q4_K");
    check_every_lane<KProduct<true>>("Q5_K");
    check_every_lane<Q6KProduct>("Q6_K");
    for (const std::string& name : kBlockTypes) {
        const BlockType& type = *block_type(name);
        const std::size_t columns = 16640 + (type.numbers == 32 ? 32 : 0), rows = 37;  // more than a part of columns
        INFO(name);
        const PackedMatrix w = random_matrix(type, rows, columns);
        CHECK(w.finite());
        CHECK(w.bytes() == rows * type.row_bytes(columns));
        const Array<float> x = random_array<float>({3, columns}, 2), exact = rounded_to_8_bits(x);
        const ConstArray<float> wide = w.unpacked();
        const Array<float> y = product_of(w, x, 0, rows);
        for (std::size_t b = 0; b < 3; ++b)
            for (std::size_t r = 0; r < rows; ++r) {
                double sum = 0, size = 0;
                for (std::size_t c = 0; c < columns; ++c) {
                    const double part =
                        static_cast<double>(wide.data()[r * columns + c]) * exact.data()[b * columns + c];
                    sum += part, size += std::abs(part);
                }
                CHECK(static_cast<double>(y.data()[b * rows + r]) == Approx(sum).margin(1e-5 * size));
            }
    }
}

TEST_CASE("blocks: what is packed comes back, and the bits depend neither on rows nor on the batch", "[engine]") {
    for (const std::string& name : kBlockTypes) {
        INFO(name);
        const BlockType& type = *block_type(name);
        const std::size_t columns = 512, rows = 53;
        const auto bytes = random_blocks(type, rows * columns / type.numbers, 1);
        Array<float> expected({rows, columns});
        type.widen(bytes.data(), rows * columns / type.numbers, expected.data());
        const PackedMatrix w = random_matrix(type, rows, columns);
        CHECK(same_bits(w.unpacked(), expected));
        CHECK(same_bits(w.unpacked_rows<float>(15, 18), expected.sliced(0, 15, 18)));
        CHECK(same_bits(w.as(WeightType::file).unpacked(), expected));
        CHECK(w.as(WeightType::q8_0).type() == WeightType::q8_0);
        const Array<float> x = random_array<float>({27, columns}, 2);
        const Array<float> y = product_of(w, x, 0, rows);
        for (const auto& [begin, end] :
             std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {15, 17}, {3, 40}, {52, 53}}) {
            const Array<float> part = product_of(w, x, begin, end);
            for (std::size_t b = 0; b < 27; ++b)
                for (std::size_t r = 0; r < rows; ++r)
                    CHECK(part.data()[b * rows + r] == (r >= begin && r < end ? y.data()[b * rows + r] : 0));
        }
        for (const std::size_t batch : {1, 2, 5, 8, 15}) {
            const Array<float> some = product_of(w, x.sliced(0, 0, batch), 0, rows);
            CHECK(same_bits(some, y.sliced(0, 0, batch)));
        }
        check_same_with_any_threads("multiply_blocks", [&] {
            Array<float> all({27, rows}), part({27, 20});
            w.multiply_blocks(0, rows, x.data(), 27, all.data(), rows);
            w.multiply_blocks(11, 31, x.data(), 27, part.data() - 11, 20);
            CHECK(same_bits(all, y));
            CHECK(same_bits(part, y.sliced(1, 11, 31)));
            return std::vector<ConstArray<float>>{all, part};
        });
    }
}

TEST_CASE("blocks: linear rounds activations where it is told to, and without a gradient alone", "[engine]") {
    const BlockType& type = *block_type("Q4_0");
    const Weight<float> w(random_matrix(type, 40, 64)), wide = Tensor<float>(w.values());
    const Tensor<float> x(random_array<float>({2, 3, 64}, 1), true);
    const IdArray targets = random_ids({2, 3}, 40, 1);
    const auto both = [&](const Weight<float>& weight) {
        return std::vector{linear(x, weight).value(), linear_cross_entropy(x, weight, targets, kIgnore, 16).value()};
    };
    const auto exact = both(wide), same = both(w);
    for (std::size_t i = 0; i < 2; ++i) CHECK(same_bits(same[i], exact[i]));
    const RoundsActivations rounds;
    const auto with_gradient = both(w);
    const NoGrad no_grad;
    const auto rounded = both(w);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(same_bits(with_gradient[i], exact[i]));
        CHECK_FALSE(same_bits(rounded[i], exact[i]));
        check_close(rounded[i], exact[i], 0.02);
    }
    const auto whole = linear_cross_entropy(x, w, targets).value();
    check_close(whole, rounded[1], 1e-6);
    CHECK(same_bits(both(wide)[0], exact[0]));
}

TEST_CASE("blocks: activations and scales that are not finite", "[engine]") {
    const BlockType& type = *block_type("Q4_K");
    const PackedMatrix w = random_matrix(type, 16, 256);
    Array<float> x = random_array<float>({2, 256}, 1);
    for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        x.data()[3] = bad;
        const Array<float> y = product_of(w, x, 0, 16);
        for (std::size_t r = 0; r < 16; ++r) {
            CHECK(std::isnan(y.data()[r]));
            CHECK(std::isfinite(y.data()[16 + r]));
        }
    }
    const auto zero = product_of(w, Array<float>({1, 256}, 0.0f), 0, 16);
    for (std::size_t r = 0; r < 16; ++r) CHECK(zero.data()[r] == 0);
    auto bytes = random_blocks(type, 16, 1);
    bytes[5 * type.bytes + 3] = std::byte{0x7C};  // the minimum's scale of row 5 is infinite
    CHECK_FALSE(
        PackedMatrix(type, 16, 256, [&](std::size_t r, std::byte*) { return &bytes[r * type.bytes]; }).finite());
    CHECK_THROWS_WITH(random_matrix(type, 2, 128), contains("a multiple of 256", "Q4_K, got 128"));
    CHECK(block_type("Q2_K") == nullptr);
}
