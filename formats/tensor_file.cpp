#include "formats/tensor_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "engine/base/parallel.h"
#include "engine/memory/buffer_pool.h"

namespace inkling::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read and written as they are in memory");

template <class Stored, class Convert>
void convert_each(const std::byte* from, std::size_t n, float* out, Convert convert) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        Stored stored;  // the file need not align its data
        std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
        out[i] = static_cast<float>(convert(stored));
    }
}

// The type of numbers that are E in memory.
template <class E>
constexpr std::string_view kOwnType = std::is_same_v<E, float>    ? "F32"
                                      : std::is_same_v<E, double> ? "F64"
                                                                  : "BF16";

template <class E>
std::uint64_t count_not_finite(const E* x, std::size_t n) {
    std::uint32_t not_finite = 0;
#pragma omp simd reduction(+ : not_finite)
    for (std::size_t i = 0; i < n; ++i) {
        if constexpr (std::is_same_v<E, BFloat16>)
            not_finite += (x[i].bits & 0x7f80) == 0x7f80;
        else
            not_finite += !(std::abs(x[i]) <= std::numeric_limits<E>::max());
    }
    return not_finite;
}

}  // namespace

void widen_f64(const std::byte* numbers, std::size_t n, float* out) {
    convert_each<double>(numbers, n, out, [](double x) { return x; });
}
void widen_f32(const std::byte* numbers, std::size_t n, float* out) { std::memcpy(out, numbers, n * sizeof *out); }
void widen_f16(const std::byte* numbers, std::size_t n, float* out) {
    convert_each<std::uint16_t>(numbers, n, out, f16_to_f32);
}
void widen_bf16(const std::byte* numbers, std::size_t n, float* out) {
    convert_each<BFloat16>(numbers, n, out, [](BFloat16 h) { return inkling::widen(h); });
}

void round_f16(const float* numbers, std::size_t n, std::byte* out) {
    std::transform(numbers, numbers + n, reinterpret_cast<std::uint16_t*>(out), f32_to_f16);
}
void round_bf16(const float* numbers, std::size_t n, std::byte* out) {
    std::transform(numbers, numbers + n, reinterpret_cast<BFloat16*>(out),
                   [](float x) { return round_to_bfloat16(x); });
}

void write_rounded(const NumberLayout& layout, const float* from, std::uint64_t count, const std::string& what,
                   const std::function<void(const void* bytes, std::size_t size)>& write) {
    const std::uint64_t numbers = layout.block > 1 ? 1 << 20 : 1 << 15;  // at a time: a multiple of each block
    check(layout.limit > 0, "{} is {}, which is not written", what, layout.name);
    std::vector<std::byte> blocks(layout.round ? layout.bytes_of(numbers) : 0);
    for (std::uint64_t done = 0; done < count; done += numbers) {
        const std::uint64_t n = std::min(numbers, count - done);
        const float *const part = from + done, *const end = part + n;
        const float* const bad = std::find_if(part, end, [&](float x) { return !(std::abs(x) < layout.limit); });
        check(bad == end, "{} has the value {}, which is not finite as {}", what, bad == end ? 0 : *bad, layout.name);
        if (layout.round)
            parallel_for(n / layout.block, kGrain / layout.block, [&](std::size_t i, std::size_t j) {
                layout.round(part + i * layout.block, j - i, blocks.data() + i * layout.bytes);
            });
        write(layout.round ? static_cast<const void*>(blocks.data()) : part, layout.bytes_of(n));
    }
}

const FileTensor& FileTensor::readable() const {
    check<BadInput>(layout->widen, "{}: tensor \"{}\" is {}, which is not read: {}", source->name, shown_name(name),
                    layout->name, source->remedy);
    return *this;
}

FileTensor FileTensor::rows(std::uint64_t begin, std::uint64_t end) const {
    FileTensor some = *this;
    const std::uint64_t columns = count / shape.front(), n = (end - begin) * columns;
    some.shape.front() = end - begin, some.count = n;
    some.bytes = bytes.subspan(layout->bytes_of(begin * columns), layout->bytes_of(n));
    return some;
}

std::uint64_t FileTensor::widen(std::uint64_t begin, float* out, std::uint64_t n) const {
    layout->widen(bytes.data() + layout->bytes_of(begin), n / layout->block, out);
    return count_not_finite(out, n);
}

template <class E>
std::uint64_t FileTensor::read(E* out, std::uint64_t wanted) const {
    check<BadInput>(readable().count == wanted, "{}: tensor \"{}\" must hold {} numbers, got {}, shape ({})",
                    source->name, shown_name(name), wanted, count, fmt::join(shape, ", "));
    constexpr std::uint64_t kNumbers = 1 << 14;  // at a time: a multiple of each block
    return chunked_sum<std::uint64_t>(count, kNumbers, [&](std::size_t begin, std::size_t end) {
        const std::size_t n = end - begin;
        if (layout->name == kOwnType<E>) {
            std::memcpy(out + begin, bytes.data() + begin * sizeof(E), n * sizeof(E));
            return count_not_finite(out + begin, n);
        }
        if constexpr (std::is_same_v<E, float>) {
            return widen(begin, out + begin, n);
        } else {
            auto* const numbers = static_cast<float*>(thread_memory(n * sizeof(float)));
            const std::uint64_t not_finite = widen(begin, numbers, n);
            if constexpr (std::is_same_v<E, double>)
                std::copy(numbers, numbers + n, out + begin);
            else
                std::transform(numbers, numbers + n, out + begin, [](float x) { return round_to_bfloat16(x); });
            return not_finite;
        }
    });
}

template std::uint64_t FileTensor::read(float*, std::uint64_t) const;
template std::uint64_t FileTensor::read(double*, std::uint64_t) const;
template std::uint64_t FileTensor::read(BFloat16*, std::uint64_t) const;

void FileTensor::release(std::uint64_t begin, std::uint64_t n) const {
    source->mapped.release(bytes.data() + layout->bytes_of(begin), layout->bytes_of(n));
}

const FileTensor& TensorFile::tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    check<BadInput>(found != tensors_.end(), "{}: tensor \"{}\" is missing", file_name_, shown_name(name));
    return found->second;
}

bool TensorFile::add_tensor(FileTensor tensor) {
    const std::string name = tensor.name;
    return tensors_.emplace(name, std::move(tensor)).second;
}

}  // namespace inkling::formats
