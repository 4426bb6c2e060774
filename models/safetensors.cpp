#include "models/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "data/json.h"
#include "engine/check.h"
#include "models/half.h"

namespace inkling::models {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are mapped and written as they are in memory");

constexpr std::uint64_t max_header = 100'000'000;
constexpr int max_depth = 8;  // a valid header needs 3

struct DTypeRow {
    std::string_view name;
    std::uint64_t bits;
};
// In the order of DType.
constexpr std::array<DTypeRow, 20> dtype_rows = {
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
     {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64}}};

std::optional<DType> dtype_named(std::string_view name) {
    const auto row = std::ranges::find(dtype_rows, name, &DTypeRow::name);
    if (row == dtype_rows.end()) return std::nullopt;
    return static_cast<DType>(row - dtype_rows.begin());
}

// A name from the file as messages show it: one short line whatever it holds.
std::string shown(std::string_view name) {
    std::string text(name.substr(0, 80));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text + (name.size() > 80 ? "..." : "");
}

// What one entry of the header is read with: `where` is 'file: tensor "name"', the start of every message.
struct EntryReader {
    const std::string where;

    // nlohmann keeps apart what JSON writes apart: 1.0 and 1e2 are floats, -0 is signed, 2^64 is a float.
    std::uint64_t integer(const nlohmann::json& value, std::string_view field) const {
        check<BadInput>(value.is_number_unsigned(), "{}: {} must hold integers from 0 to 2^64 - 1", where, field);
        return value.get<std::uint64_t>();
    }

    const nlohmann::json& field(const nlohmann::json& entry, const char* key) const {
        const auto found = entry.find(key);
        check<BadInput>(found != entry.end(), "{}: {} is missing", where, key);
        return *found;
    }

    std::uint64_t product(std::uint64_t a, std::uint64_t b) const {
        std::uint64_t result = 0;
        check<BadInput>(!__builtin_mul_overflow(a, b, &result), "{}: the shape has more elements than 64 bits count",
                        where);
        return result;
    }

    TensorInfo read(const std::string& name, const nlohmann::json& entry) const {
        check<BadInput>(entry.is_object(), "{}: dtype, shape and data_offsets are required", where);
        TensorInfo info{.name = name};

        const auto& dtype = field(entry, "dtype");
        check<BadInput>(dtype.is_string(), "{}: dtype must be a name", where);
        const auto& dtype_text = dtype.get_ref<const std::string&>();
        const std::optional<DType> known = dtype_named(dtype_text);
        check<BadInput>(known.has_value(), "{}: dtype \"{}\" is unknown", where, shown(dtype_text));
        info.dtype = *known;

        const auto& shape = field(entry, "shape");
        check<BadInput>(shape.is_array(), "{}: shape must be a list", where);
        for (const auto& extent : shape) info.shape.push_back(integer(extent, "shape"));
        for (const std::uint64_t extent : info.shape) info.count = product(info.count, extent);

        const auto& offsets = field(entry, "data_offsets");
        check<BadInput>(offsets.is_array() && offsets.size() == 2, "{}: data_offsets must be [begin, end]", where);
        info.begin = integer(offsets[0], "data_offsets");
        info.end = integer(offsets[1], "data_offsets");
        check<BadInput>(info.begin <= info.end, "{}: data_offsets [{}, {}] end before they begin", where, info.begin,
                        info.end);

        const std::uint64_t bits = product(info.count, dtype_bits(info.dtype));
        check<BadInput>(bits % 8 == 0, "{}: {} elements of {} do not fill whole bytes", where, info.count, dtype_text);
        check<BadInput>(bits / 8 == info.end - info.begin,
                        "{}: the shape takes {} bytes of {}, data_offsets [{}, {}] give {}", where, bits / 8,
                        dtype_text, info.begin, info.end, info.end - info.begin);
        return info;
    }
};

// The data is one row of tensors: no holes, no overlaps, nothing behind the last. So no byte has two meanings, or none.
void check_layout(const std::map<std::string, TensorInfo>& tensors, std::uint64_t size, const std::string& file) {
    std::vector<const TensorInfo*> order;
    order.reserve(tensors.size());
    for (const auto& [name, info] : tensors) order.push_back(&info);
    std::ranges::sort(order, {}, [](const TensorInfo* t) { return std::tie(t->begin, t->end); });
    std::uint64_t next = 0;
    for (const TensorInfo* t : order) {
        check<BadInput>(t->begin == next, "{}: tensor \"{}\" begins at byte {}, where {} is due: no holes, no overlaps",
                        file, shown(t->name), t->begin, next);
        next = t->end;
    }
    check<BadInput>(next == size, "{}: the tensors take {} bytes, but {} follow the header: the file was {}", file,
                    next, size, next > size ? "cut short" : "added to");
}

template <class Stored, class Out, class Convert>
void convert_each(const std::byte* from, Out* out, std::uint64_t count, Convert convert) {
    for (std::uint64_t i = 0; i < count; ++i) {
        Stored stored;  // the file need not align its data
        std::memcpy(&stored, from + i * sizeof(Stored), sizeof(Stored));
        out[i] = static_cast<Out>(convert(stored));
    }
}

}  // namespace

std::string_view dtype_name(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)].name; }
std::uint64_t dtype_bits(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)].bits; }

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
    data::MappedFile mapped(path);
    SafetensorsFile file = parse(mapped.bytes(), path.string());
    file.file_ = std::move(mapped);
    return file;
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, std::string name) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    check<BadInput>(!text.starts_with("version https://git-lfs"),
                    "{}: a Git LFS pointer, not the weights: run git lfs pull in its folder", name);
    std::uint64_t length = 0;
    check<BadInput>(bytes.size() >= sizeof(length), "{}: a safetensors file is 8 bytes at least, got {}", name,
                    bytes.size());
    std::memcpy(&length, bytes.data(), sizeof(length));
    const std::uint64_t rest = bytes.size() - sizeof(length);
    check<BadInput>(length <= max_header, "{}: not a safetensors file: its header would take {} bytes, of at most {}",
                    name, length, max_header);
    check<BadInput>(length <= rest, "{}: the header takes {} bytes, but {} follow: the file was cut short", name,
                    length, rest);
    const std::string_view header = text.substr(sizeof(length), length);
    check<BadInput>(header.starts_with('{'), "{}: not a safetensors file: its header must begin with {{", name);

    SafetensorsFile file;
    const nlohmann::json entries = data::parse_json(header, name + ": header", max_depth);
    for (const auto& [key, value] : entries.items()) {
        if (key != "__metadata__") {
            const EntryReader reader{fmt::format("{}: tensor \"{}\"", name, shown(key))};
            file.tensors_.emplace(key, reader.read(key, value));
            continue;
        }
        check<BadInput>(value.is_object(), "{}: __metadata__ must be an object", name);
        for (const auto& [field, content] : value.items()) {
            check<BadInput>(content.is_string(), "{}: __metadata__ \"{}\" must be a string", name, shown(field));
            file.metadata_.emplace(field, content.get<std::string>());
        }
    }
    check_layout(file.tensors_, rest - length, name);
    file.name_ = std::move(name);
    file.buffer_ = bytes.subspan(sizeof(length) + length);
    return file;
}

const TensorInfo& SafetensorsFile::info(const std::string& name) const {
    const auto found = tensors_.find(name);
    check<BadInput>(found != tensors_.end(), "{}: tensor \"{}\" is missing", name_, shown(name));
    return found->second;
}

const TensorInfo& SafetensorsFile::counted(const std::string& name, std::uint64_t count) const {
    const TensorInfo& t = info(name);
    check<BadInput>(t.count == count, "{}: tensor \"{}\" must hold {} elements, got {}, shape ({})", name_, shown(name),
                    count, t.count, fmt::join(t.shape, ", "));
    return t;
}

template <class T>
void SafetensorsFile::read_floats(const std::string& name, T* out, std::uint64_t count) const {
    const TensorInfo& t = counted(name, count);
    const std::byte* from = data(t);
    switch (t.dtype) {
        case DType::F64:
            return convert_each<double>(from, out, count, [](double x) { return x; });
        case DType::F32:
            return convert_each<float>(from, out, count, [](float x) { return x; });
        case DType::F16:
            return convert_each<std::uint16_t>(from, out, count, f16_to_f32);
        case DType::BF16:
            return convert_each<std::uint16_t>(from, out, count, bf16_to_f32);
        default:
            break;
    }
    check<BadInput>(false, "{}: tensor \"{}\" must be F64, F32, F16 or BF16, got {}", name_, shown(name),
                    dtype_name(t.dtype));
}

template <class T>
void SafetensorsFile::read_stored(const std::string& name, DType dtype, T* out, std::uint64_t count) const {
    const TensorInfo& t = counted(name, count);
    check<BadInput>(t.dtype == dtype, "{}: tensor \"{}\" must be {}, got {}", name_, shown(name), dtype_name(dtype),
                    dtype_name(t.dtype));
    convert_each<T>(data(t), out, count, [](T x) { return x; });
}

void SafetensorsFile::read(const std::string& name, float* out, std::uint64_t count) const {
    read_floats(name, out, count);
}
void SafetensorsFile::read(const std::string& name, double* out, std::uint64_t count) const {
    read_floats(name, out, count);
}
void SafetensorsFile::read(const std::string& name, std::int64_t* out, std::uint64_t count) const {
    read_stored(name, DType::I64, out, count);
}
void SafetensorsFile::read(const std::string& name, std::uint64_t* out, std::uint64_t count) const {
    read_stored(name, DType::U64, out, count);
}
void SafetensorsFile::read(const std::string& name, std::uint8_t* out, std::uint64_t count) const {
    read_stored(name, DType::U8, out, count);
}

}  // namespace inkling::models
