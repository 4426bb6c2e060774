#include "formats/safetensors/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/half.h"
#include "engine/base/names.h"
#include "engine/base/parallel.h"

namespace inkling::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are mapped and written as they are in memory");

struct DTypeRow {
    std::string_view name;
    std::uint64_t bits;
};
// In the order of DType.
constexpr std::array<DTypeRow, 20> dtype_rows = {
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
     {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64}}};

// Counts those that are not finite, at no extra cost: memory bounds the speed.
template <class Stored, class Out, class Convert, class IsFinite>
std::uint64_t convert_each(const std::byte* from, Out* out, std::uint64_t count, Convert convert, IsFinite is_finite) {
    return chunked_sum<std::uint64_t>(count, kGrain, [&](std::size_t begin, std::size_t end) {
        std::uint32_t not_finite = 0;
#pragma omp simd reduction(+ : not_finite)
        for (std::size_t i = begin; i < end; ++i) {
            Stored stored;  // the file need not align its data
            std::memcpy(&stored, from + i * sizeof(Stored), sizeof(Stored));
            const auto value = static_cast<Out>(convert(stored));
            out[i] = value;
            not_finite += !is_finite(value);
        }
        return std::uint64_t{not_finite};
    });
}

}  // namespace

std::string_view dtype_name(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)].name; }
std::uint64_t dtype_bits(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)].bits; }

std::optional<DType> dtype_named(std::string_view name) {
    const auto row = std::ranges::find(dtype_rows, name, &DTypeRow::name);
    if (row == dtype_rows.end()) return std::nullopt;
    return static_cast<DType>(row - dtype_rows.begin());
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
    MappedFile mapped(path);
    SafetensorsFile file = parse(mapped.bytes(), path.string());
    file.file_ = std::move(mapped);
    return file;
}

const TensorInfo& SafetensorsFile::info(const std::string& name) const {
    const auto found = tensors_.find(name);
    check<BadInput>(found != tensors_.end(), "{}: tensor \"{}\" is missing", name_, shown_name(name));
    return found->second;
}

const TensorInfo& SafetensorsFile::counted(const std::string& name, std::uint64_t count) const {
    const TensorInfo& t = info(name);
    check<BadInput>(t.count == count, "{}: tensor \"{}\" must hold {} elements, got {}, shape ({})", name_,
                    shown_name(name), count, t.count, fmt::join(t.shape, ", "));
    return t;
}

template <class T>
std::uint64_t SafetensorsFile::read(const std::string& name, T* out, std::uint64_t count) const {
    const TensorInfo& t = counted(name, count);
    const std::byte* from = data(t);
    const auto is_finite = [](T x) { return std::abs(x) <= std::numeric_limits<T>::max(); };
    switch (t.dtype) {
        case DType::F64:
            return convert_each<double>(
                from, out, count, [](double x) { return x; }, is_finite);
        case DType::F32:
            return convert_each<float>(
                from, out, count, [](float x) { return x; }, is_finite);
        case DType::F16:
            return convert_each<std::uint16_t>(from, out, count, f16_to_f32, is_finite);
        case DType::BF16:
            return convert_each<BFloat16>(
                from, out, count, [](BFloat16 h) { return widen(h); }, is_finite);
        default:
            break;
    }
    throw BadInput(fmt::format("{}: tensor \"{}\" must be F64, F32, F16 or BF16, got {}", name_, shown_name(name),
                               dtype_name(t.dtype)));
}

template std::uint64_t SafetensorsFile::read(const std::string&, float*, std::uint64_t) const;
template std::uint64_t SafetensorsFile::read(const std::string&, double*, std::uint64_t) const;

std::uint64_t SafetensorsFile::read_bfloat16(const std::string& name, std::uint16_t* out, std::uint64_t count) const {
    const TensorInfo& t = counted(name, count);
    check<BadInput>(t.dtype == DType::BF16, "{}: tensor \"{}\" must be BF16, got {}", name_, shown_name(name),
                    dtype_name(t.dtype));
    return convert_each<std::uint16_t>(
        data(t), out, count, [](auto x) { return x; }, [](auto x) { return (x & 0x7f80) != 0x7f80; });
}

void SafetensorsFile::release(const TensorInfo& info) const {
    if (file_.size() > 0) file_.release(data(info), info.end - info.begin);
}

}  // namespace inkling::formats
