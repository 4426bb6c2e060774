#include "engine/autograd/packed_matrix.h"

#include <cmath>
#include <cstring>

#include "engine/base/half.h"
#include "engine/base/parallel.h"
#include "engine/kernels/simd.h"

namespace inkling {
namespace {

constexpr std::size_t W = Vec<float>::size;
constexpr std::size_t kBatch = 4;       // vectors that share one reading of a row
constexpr std::size_t kCached = 32768;  // weights that stay in the cache while more vectors than these go over them
constexpr std::size_t kAhead = 12288;   // bytes: rows follow each other; the CPU's own prefetching stops at each page

// W numbers of a smaller type as floats, by the compiler's own vectors: xsimd 8 goes through memory for it. GCC 12
// halves those of 512 bits, and takes numbers of 8 bits one by one: there by the instructions' names.
template <class Small, class Wide>
inline auto load_lanes(const Small* p) {
    typedef Small Packed __attribute__((vector_size(sizeof(Small) * W)));
    typedef Wide Lanes __attribute__((vector_size(sizeof(Wide) * W)));
    Packed packed;
    std::memcpy(&packed, p, sizeof packed);
    return __builtin_convertvector(packed, Lanes);
}

template <class Lanes>
inline Vec<float> as_vec(const Lanes& lanes) {
    Vec<float> v;
    static_assert(sizeof v == sizeof lanes);
    std::memcpy(&v, &lanes, sizeof v);
    return v;
}

inline Vec<float> load_wide(const float* p) { return Vec<float>::load_unaligned(p); }
inline Vec<float> load_wide(const BFloat16* p) {
#if defined(__AVX512F__)
    if constexpr (W == 16) {
        const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    }
#endif
    return as_vec(load_lanes<std::uint16_t, std::uint32_t>(reinterpret_cast<const std::uint16_t*>(p)) << 16);
}
inline Vec<float> load_wide(const std::int8_t* p) {
#if defined(__AVX512F__)
    if constexpr (W == 16)
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
    if constexpr (W == 8)
        return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#endif
    const auto whole = load_lanes<std::int8_t, std::int32_t>(p);
    return as_vec(__builtin_convertvector(whole, Native<float>));
}

// A float16 in every lane, as a float.
inline Vec<float> all_lanes(std::uint16_t half) {
#if defined(__AVX512F__)
    if constexpr (W == 16) return _mm512_cvtph_ps(_mm256_set1_epi16(static_cast<short>(half)));
#elif defined(__F16C__)
    if constexpr (W == 8) return _mm256_cvtph_ps(_mm_set1_epi16(static_cast<short>(half)));
#endif
    return Vec<float>(f16_to_f32(half));
}

inline Vec<float> load_wide_part(const float* p, std::size_t n) { return load_part<float>(p, n); }
inline Vec<float> load_wide_part(const BFloat16* p, std::size_t n) {
    alignas(64) float lanes[W] = {};
    for (std::size_t i = 0; i < n; ++i) lanes[i] = widen(p[i]);
    return Vec<float>::load_aligned(lanes);
}

// The lines of memory that are needed some rows after p, `bytes` of them, into L2: L1 waits for too few at a time.
inline void prefetch(const void* p, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(p) + kAhead + i, 0, 2);
}

// y[b] = w . x[b], in four running vectors and always in the same order: N changes no bit.
template <std::size_t N, class Weight>
inline void dot(const Weight* w, std::size_t n, const float* x, float* y, std::size_t y_stride) {
    constexpr std::size_t kRunning = 4;
    Vec<float> sum[N][kRunning];
    for (auto& row : sum)
        for (auto& s : row) s = Vec<float>(0.0f);
    std::size_t i = 0;
    for (; i + kRunning * W <= n; i += kRunning * W) {
        prefetch(w + i, kRunning * W * sizeof(Weight));
        for (std::size_t k = 0; k < kRunning; ++k) {
            const Vec<float> v = load_wide(w + i + k * W);
            for (std::size_t b = 0; b < N; ++b)
                sum[b][k] = xsimd::fma(v, Vec<float>::load_unaligned(x + b * n + i + k * W), sum[b][k]);
        }
    }
    for (; i < n; i += W) {
        const std::size_t part = std::min(W, n - i);
        const Vec<float> v = part == W ? load_wide(w + i) : load_wide_part(w + i, part);
        for (std::size_t b = 0; b < N; ++b) sum[b][0] = xsimd::fma(v, load_part<float>(x + b * n + i, part), sum[b][0]);
    }
    for (std::size_t b = 0; b < N; ++b)
        y[b * y_stride] = sum_lanes<float>((sum[b][0] + sum[b][1]) + (sum[b][2] + sum[b][3]));
}

// The same with 8-bit weights: n is a multiple of 32, and each 32 have a scale.
template <std::size_t N>
inline void dot_q8(const std::int8_t* w, const std::uint16_t* scale, std::size_t n, const float* x, float* y,
                   std::size_t y_stride) {
    constexpr std::size_t kBlock = PackedMatrix::kBlock;
    Vec<float> even[N], odd[N];
    for (std::size_t b = 0; b < N; ++b) even[b] = odd[b] = Vec<float>(0.0f);
    const auto block = [&](std::size_t i, Vec<float>* sum) {
        Vec<float> v[kBlock / W];
        for (std::size_t k = 0; k < kBlock / W; ++k) v[k] = load_wide(w + i + k * W);
        const Vec<float> d = all_lanes(scale[i / kBlock]);
        for (std::size_t b = 0; b < N; ++b) {
            Vec<float> part = v[0] * Vec<float>::load_unaligned(x + b * n + i);
            for (std::size_t k = 1; k < kBlock / W; ++k)
                part = xsimd::fma(v[k], Vec<float>::load_unaligned(x + b * n + i + k * W), part);
            sum[b] = xsimd::fma(part, d, sum[b]);
        }
    };
    std::size_t i = 0;
    for (; i + 2 * kBlock <= n; i += 2 * kBlock) {
        prefetch(w + i, 2 * kBlock);
        block(i, even);
        block(i + kBlock, odd);
    }
    if (i < n) block(i, even);
    for (std::size_t b = 0; b < N; ++b) y[b * y_stride] = sum_lanes<float>(even[b] + odd[b]);
}

// Calls row(r, vectors, y, N) for each row in [begin, end) and each group of N vectors.
template <class Row>
void multiply_rows(std::size_t n, std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                   std::size_t y_stride, const Row& row) {
    const auto some = [&](std::size_t first, std::size_t last, std::size_t b, auto N) {
        for (std::size_t r = first; r < last; ++r) row(r, x + b * n, y + b * y_stride + r, N);
    };
    const std::size_t step = batch == 1 ? end - begin : std::max<std::size_t>(1, kCached / std::max<std::size_t>(1, n));
    for (std::size_t first = begin; first < end; first += step) {
        const std::size_t last = std::min(end, first + step);
        std::size_t b = 0;
        for (; b + kBatch <= batch; b += kBatch) some(first, last, b, std::integral_constant<std::size_t, kBatch>{});
        for (; b < batch; ++b) some(first, last, b, std::integral_constant<std::size_t, 1>{});
    }
}

template <class Weight>
auto dot_row(const Weight* w, std::size_t n, std::size_t y_stride) {
    return [=](std::size_t r, const float* x, float* y, auto N) { dot<N>(w + r * n, n, x, y, y_stride); };
}

}  // namespace

PackedMatrix::PackedMatrix(const ConstArray<float>& weight, WeightType type)
    : type_(type), rows_(weight.dim(0)), columns_(weight.dim(1)) {
    check(weight.rank() == 2, "PackedMatrix: a matrix is required, got shape {}", weight.shape());
    if (type == WeightType::q8_0 && columns_ % kBlock != 0) type_ = WeightType::fp32;
    if (type_ == WeightType::fp32) full_ = weight.contiguous();
    if (type_ == WeightType::bf16) half_ = round_to_bfloat16(weight);
    if (type_ != WeightType::q8_0) return;
    const ConstArray<float> dense = weight.contiguous();
    pack_q8([&](std::size_t r, float*) { return dense.data() + r * columns_; });
}

PackedMatrix::PackedMatrix(const Array<BFloat16>& weight)
    : type_(WeightType::bf16), rows_(weight.dim(0)), columns_(weight.dim(1)), half_(weight) {
    check(weight.rank() == 2 && weight.is_contiguous(), "PackedMatrix: a dense matrix is required, got shape {}",
          weight.shape());
}

const std::int8_t* PackedMatrix::quants() const { return reinterpret_cast<const std::int8_t*>(quants_.data()); }

template <class RowOf>
void PackedMatrix::pack_q8(const RowOf& row_of) {
    quants_ = Array<std::uint8_t>({rows_, columns_});
    std::vector<std::uint16_t> scales(quants_.size() / kBlock);
    auto* const quants = reinterpret_cast<std::int8_t*>(quants_.data());
    parallel_rows(rows_, columns_, [&](std::size_t begin, std::size_t end) {
        std::vector<float> buffer(columns_);
        for (std::size_t block = begin * columns_ / kBlock; begin < end; ++begin) {
            const float* x = row_of(begin, buffer.data());
            for (const float* const row_end = x + columns_; x < row_end; x += kBlock, ++block) {
                float most = 0;
                for (std::size_t i = 0; i < kBlock; ++i) most = std::max(most, std::abs(x[i]));
                const float d = most / 127, inverse = d > 0 ? 1 / d : 0;
                scales[block] = f32_to_f16(d);
                for (std::size_t i = 0; i < kBlock; ++i)
                    quants[block * kBlock + i] = static_cast<std::int8_t>(std::round(x[i] * inverse));
            }
        }
    });
    scales_ = std::make_shared<const std::vector<std::uint16_t>>(std::move(scales));
}

PackedMatrix PackedMatrix::as(WeightType type) const {
    if (type == type_) return *this;
    if (type != WeightType::q8_0 || columns_ % kBlock != 0) return {unpacked(), type};
    PackedMatrix result;
    result.type_ = type, result.rows_ = rows_, result.columns_ = columns_;
    result.pack_q8([&](std::size_t r, float* buffer) {
        unpack_rows(r, r + 1, buffer);
        return buffer;
    });
    return result;
}

std::size_t PackedMatrix::bytes() const {
    const std::size_t n = rows_ * columns_;
    return type_ == WeightType::fp32   ? 4 * n
           : type_ == WeightType::bf16 ? 2 * n
                                       : n + n / kBlock * sizeof(std::uint16_t);
}

void PackedMatrix::multiply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                            std::size_t y_stride) const {
    const std::size_t n = columns_;
    const auto rows = [&](const auto& row) { multiply_rows(n, begin, end, x, batch, y, y_stride, row); };
    switch (type_) {
        case WeightType::fp32:
            return rows(dot_row(full_.data(), n, y_stride));
        case WeightType::bf16:
            return rows(dot_row(half_.data(), n, y_stride));
        case WeightType::q8_0:
            return rows([&, w = quants(), d = scales_->data()](std::size_t r, const float* xs, float* ys, auto N) {
                dot_q8<N>(w + r * n, d + r * (n / kBlock), n, xs, ys, y_stride);
            });
    }
}

void multiply(const Tensor<float>& matrix, std::size_t begin, std::size_t end, const float* x, std::size_t batch,
              float* y, std::size_t y_stride) {
    if (matrix.packed()) return matrix.packed()->multiply(begin, end, x, batch, y, y_stride);
    const std::size_t n = matrix.dim(1);
    multiply_rows(n, begin, end, x, batch, y, y_stride, dot_row(matrix.value().data(), n, y_stride));
}

std::size_t stored_bytes(const Tensor<float>& matrix) {
    return matrix.packed() ? matrix.packed()->bytes() : matrix.size() * sizeof(float);
}

ConstArray<float> PackedMatrix::unpacked() const {
    if (type_ == WeightType::fp32) return full_;
    return type_ == WeightType::bf16 ? widen(half_) : unpacked_rows<float>(0, rows_);
}

template <class T>
Array<T> PackedMatrix::unpacked_rows(std::size_t begin, std::size_t end) const {
    check(begin <= end && end <= rows_, "PackedMatrix: rows of {} are required, got {} to {}", rows_, begin, end);
    Array<T> rows({end - begin, columns_});
    parallel_rows(end - begin, columns_, [&](std::size_t from, std::size_t to) {
        unpack_rows(begin + from, begin + to, rows.data() + from * columns_);
    });
    return rows;
}

template <class T>
void PackedMatrix::unpack_rows(std::size_t begin, std::size_t end, T* out) const {
    const std::size_t first = begin * columns_, n = (end - begin) * columns_;
    if (type_ == WeightType::fp32) {
        std::copy_n(full_.data() + first, n, out);
    } else if (type_ == WeightType::bf16) {
        std::transform(half_.data() + first, half_.data() + first + n, out, [](BFloat16 h) { return widen(h); });
    } else {
        for (std::size_t i = first; i < first + n; i += W, out += W) {
            const Vec<float> v = load_wide(quants() + i) * all_lanes((*scales_)[i / kBlock]);
            if constexpr (std::is_same_v<T, float>) {
                v.store_unaligned(out);
            } else {
                float lanes[W];
                v.store_unaligned(lanes);
                std::copy_n(lanes, W, out);
            }
        }
    }
}

template <class T>
Tensor<T> packed(const Tensor<T>& matrix, WeightType type) {
    const auto& before = matrix.packed();
    const bool exact = before && type == WeightType::fp32 && before->type() == WeightType::bf16;
    if (exact || (before ? before->type() : WeightType::fp32) == type) return matrix.detach();
    if (type != WeightType::fp32) {
        const auto result = std::make_shared<const PackedMatrix>(
            before ? before->as(type) : PackedMatrix(ConstArray<float>(matrix.value()), type));
        if (result->type() == type) return Tensor<T>(result);  // q8_0 needs rows of whole blocks
    }
    return before ? Tensor<T>(unpacked(matrix)) : matrix.detach();
}

template <class T>
ConstArray<T> unpacked(const Tensor<T>& tensor) {
    const auto& matrix = tensor.packed();
    return matrix ? ConstArray<T>(matrix->template unpacked_rows<T>(0, matrix->rows())) : tensor.value();
}

void round_for(Precision precision, float* x, std::size_t n) {
    if (precision != Precision::bf16) return;
    for (std::size_t i = 0; i < n; ++i) x[i] = widen(round_to_bfloat16(x[i]));
}

template Array<float> PackedMatrix::unpacked_rows(std::size_t, std::size_t) const;
template Array<double> PackedMatrix::unpacked_rows(std::size_t, std::size_t) const;
template void PackedMatrix::unpack_rows(std::size_t, std::size_t, float*) const;
template void PackedMatrix::unpack_rows(std::size_t, std::size_t, double*) const;
template Tensor<float> packed(const Tensor<float>&, WeightType);
template Tensor<double> packed(const Tensor<double>&, WeightType);
template ConstArray<float> unpacked(const Tensor<float>&);
template ConstArray<double> unpacked(const Tensor<double>&);

}  // namespace inkling
