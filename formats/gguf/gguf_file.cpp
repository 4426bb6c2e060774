#include "formats/gguf/gguf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <tuple>

#include "engine/array/buffer_pool.h"
#include "engine/base/check.h"
#include "engine/base/names.h"
#include "engine/base/parallel.h"

namespace inkling::formats {
namespace {

using ValueType = GgufValue::Type;

static_assert(std::endian::native == std::endian::little, "GGUF is read as it lies in the file");

// The first is the format's own bound, the others are ours.
constexpr std::size_t kMaxDimensions = 4, kMaxPairs = 100'000, kMaxTensors = 250'000, kMaxName = 65'535;
constexpr std::uint64_t kMaxParts = 1000;
constexpr int kMaxDepth = 4;  // of lists in lists, which no known file has

// 0: texts and lists, which have no fixed size.
constexpr std::uint64_t fixed_size(ValueType type) {
    constexpr std::uint64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return kSizes[static_cast<std::size_t>(type)];
}

template <class T>
T load(const std::byte* from) {  // at any alignment
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Any number as a double; whole ones beyond 2^53 are rounded.
double number_at(ValueType type, const std::byte* at) {
    switch (type) {
        case ValueType::u8:
        case ValueType::flag:
            return load<std::uint8_t>(at);
        case ValueType::i8:
            return load<std::int8_t>(at);
        case ValueType::u16:
            return load<std::uint16_t>(at);
        case ValueType::i16:
            return load<std::int16_t>(at);
        case ValueType::u32:
            return load<std::uint32_t>(at);
        case ValueType::i32:
            return load<std::int32_t>(at);
        case ValueType::f32:
            return static_cast<double>(load<float>(at));
        case ValueType::u64:
            return static_cast<double>(load<std::uint64_t>(at));
        case ValueType::i64:
            return static_cast<double>(load<std::int64_t>(at));
        case ValueType::f64:
            return load<double>(at);
        case ValueType::text:
        case ValueType::array:
            break;
    }
    return 0;
}

bool is_number(ValueType type) {
    return type != ValueType::text && type != ValueType::array && type != ValueType::flag;
}

// Takes the header's parts in their order, within the file.
class Cursor {
  public:
    Cursor(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

    std::uint64_t at() const { return at_; }
    std::uint64_t left() const { return bytes_.size() - at_; }

    std::span<const std::byte> take(std::uint64_t size, const char* what) {
        check<BadInput>(size <= left(), "{}: ends inside {}, at byte {}: the file was cut short, or is damaged", file_,
                        what, bytes_.size());
        at_ += size;
        return bytes_.subspan(at_ - size, size);
    }
    template <class T>
    T take(const char* what) {
        return load<T>(take(sizeof(T), what).data());
    }
    std::string_view text(const char* what) {
        const auto size = take<std::uint64_t>(what);
        return {reinterpret_cast<const char*>(take(size, what).data()), size};
    }
    std::string name(const char* what) {
        const std::string_view name = text(what);
        check<BadInput>(name.size() <= kMaxName, "{}: {} has {} bytes, of at most {}", file_, what, name.size(),
                        kMaxName);
        return std::string(name);
    }
    // How many items of at least `smallest` bytes follow.
    std::uint64_t number(std::uint64_t most, std::uint64_t smallest, const char* what) {
        const auto n = take<std::uint64_t>(what);
        check<BadInput>(n <= most, "{}: {} {}, of at most {}", file_, n, what, most);
        check<BadInput>(n <= left() / smallest, "{}: {} {} do not fit its {} bytes: the file was cut short", file_, n,
                        what, bytes_.size());
        return n;
    }
    ValueType type(const std::string& key) {
        const auto type = take<std::uint32_t>("a value");
        check<BadInput>(type <= static_cast<std::uint32_t>(ValueType::f64), "{}: {} has a value of the unknown type {}",
                        file_, shown_name(key), type);
        return static_cast<ValueType>(type);
    }
    // Of a value or an element.
    void pass(ValueType type, const std::string& key, int depth) {
        if (type == ValueType::text) {
            text("a text");
        } else if (type == ValueType::array) {
            pass_list(key, depth);
        } else {
            take(fixed_size(type), "a value");
        }
    }
    // Returns what it is a list of, and how many.
    std::pair<ValueType, std::uint64_t> pass_list(const std::string& key, int depth = 1) {
        check<BadInput>(depth <= kMaxDepth, "{}: {} has lists in lists, more than {} deep", file_, shown_name(key),
                        kMaxDepth);
        const ValueType of = type(key);
        const std::uint64_t fixed = fixed_size(of),
                            n = number(~std::uint64_t{0}, fixed ? fixed : 8, "elements of a list");
        if (fixed) {
            take(n * fixed, "a list");
        } else {
            for (std::uint64_t i = 0; i < n; ++i) pass(of, key, depth + 1);
        }
        return {of, n};
    }

  private:
    std::span<const std::byte> bytes_;
    const std::string& file_;
    std::uint64_t at_ = 0;
};

GgufValue read_value(Cursor& in, std::span<const std::byte> all, const std::string& key) {
    GgufValue value;
    value.type = in.type(key);
    value.list = value.type == ValueType::array;
    std::uint64_t begin = in.at();
    if (value.list) {
        std::tie(value.type, value.count) = in.pass_list(key);
        begin += sizeof(std::uint32_t) + sizeof(std::uint64_t);
    } else {
        in.pass(value.type, key, 1);
    }
    value.bytes = all.subspan(begin, in.at() - begin);
    return value;
}

// The tensor's bytes are still those that it needs, to be placed in the file.
GgufTensor read_tensor(Cursor& in, const std::string& name, const std::string& file, std::uint64_t& bytes,
                       std::uint64_t& offset) {
    const std::string where = fmt::format("{}: tensor \"{}\"", file, shown_name(name));
    GgufTensor t;
    const auto dimensions = in.take<std::uint32_t>("a tensor's shape");
    check<BadInput>(dimensions <= kMaxDimensions, "{}: has {} dimensions, of at most {}", where, dimensions,
                    kMaxDimensions);
    t.shape.resize(dimensions);
    bool counts = true;
    for (std::size_t i = dimensions; i-- > 0;) {  // the row's length first
        t.shape[i] = in.take<std::uint64_t>("a tensor's shape");
        counts = counts && t.shape[i] > 0 && !__builtin_mul_overflow(t.count, t.shape[i], &t.count);
    }
    check<BadInput>(counts && t.count < std::uint64_t{1} << 56, "{}: its shape has no numbers, or too many", where);
    const auto type = in.take<std::uint32_t>("a tensor's type");
    t.layout = gguf_layout(static_cast<GgufType>(type));
    check<BadInput>(t.layout, "{}: is of the unknown type {}", where, type);
    check<BadInput>((dimensions ? t.shape.back() : 1) % t.layout->block == 0,
                    "{}: its rows are {} long, and {} needs a multiple of {}", where, dimensions ? t.shape.back() : 1,
                    t.layout->name, t.layout->block);
    bytes = t.count / t.layout->block * t.layout->bytes;
    offset = in.take<std::uint64_t>("a tensor's place");
    return t;
}

void check_version(Cursor& in, std::span<const std::byte> bytes, const std::string& file) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    check<BadInput>(!text.starts_with("version https://git-lfs"),
                    "{}: a Git LFS pointer, not the model: run git lfs pull in its folder", file);
    check<BadInput>(text.starts_with("GGUF"), "{}: not a GGUF file: it does not begin with GGUF", file);
    in.take(4, "its version");
    const auto version = in.take<std::uint32_t>("its version");
    check<BadInput>(version <= 0xffff, "{}: a big-endian GGUF file, which is not read: make a little-endian one", file);
    check<BadInput>(version == 2 || version == 3, "{}: GGUF version {} is not supported: 2 and 3 are", file, version);
}

// The other files of a model in several: mine-00001-of-00003.gguf is the first of three.
std::filesystem::path part_path(const std::filesystem::path& first, std::uint64_t part, std::uint64_t parts) {
    const std::string name = first.filename().string(), end = fmt::format("-00001-of-{:05}.gguf", parts);
    check<BadInput>(name.ends_with(end), "{}: the first of the {} files of a model must be named *{}", first.string(),
                    parts, end);
    return first.parent_path() /
           fmt::format("{}-{:05}-of-{:05}.gguf", name.substr(0, name.size() - end.size()), part + 1, parts);
}

}  // namespace

bool is_gguf(const std::filesystem::path& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return false;
    char magic[4] = {};
    std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
    return path.extension() == ".gguf" || std::string_view(magic, sizeof magic) == "GGUF";
}

void GgufFile::add_part(std::span<const std::byte> bytes, const std::string& name, std::size_t part) {
    Cursor in(bytes, name);
    check_version(in, bytes, name);
    constexpr std::uint64_t kTensor = 24, kPair = 13;  // bytes of the smallest
    const std::uint64_t tensors = in.number(kMaxTensors, kTensor, "tensors"),
                        pairs = in.number(kMaxPairs, kPair, "keys");
    std::map<std::string, GgufValue> values;
    for (std::uint64_t i = 0; i < pairs; ++i) {
        std::string key = in.name("a key");
        const GgufValue value = read_value(in, bytes, key);
        check<BadInput>(values.emplace(key, value).second, "{}: the key {} appears twice", name, shown_name(key));
    }
    std::swap(values, values_);  // so that size() reads them
    const std::uint64_t alignment = size("general.alignment").value_or(32);
    check<BadInput>(std::has_single_bit(alignment) && alignment <= 1 << 20,
                    "{}: general.alignment must be a power of two up to 2^20, got {}", name, alignment);
    const std::uint64_t number = size("split.no").value_or(0);
    check<BadInput>(number == part, "{}: is part {} of a model in {} files: name the first, *-00001-of-*.gguf", name,
                    number + 1, size("split.count").value_or(0));
    if (part > 0) std::swap(values, values_);

    struct Placed {
        std::string name;
        std::uint64_t begin, bytes;
    };
    std::vector<Placed> placed;
    const auto padded = [&](std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < tensors; ++i) {
        const std::string tensor = in.name("a tensor's name");
        std::uint64_t size = 0, offset = 0;
        GgufTensor t = read_tensor(in, tensor, name, size, offset);
        t.part = part;
        check<BadInput>(offset == next, "{}: tensor \"{}\" begins at byte {}, where {} is due: no holes, no overlaps",
                        name, shown_name(tensor), offset, next);
        check<BadInput>(size <= bytes.size() - std::min<std::uint64_t>(next, bytes.size()),
                        "{}: tensor \"{}\" takes {} bytes: the file was cut short", name, shown_name(tensor), size);
        placed.push_back({tensor, offset, size});
        next = padded(offset + size);
        check<BadInput>(tensors_.emplace(tensor, std::move(t)).second, "{}: tensor \"{}\" appears twice", name,
                        shown_name(tensor));
    }
    const std::uint64_t data = padded(in.at());
    for (const Placed& p : placed) {
        check<BadInput>(data <= bytes.size() && p.begin + p.bytes <= bytes.size() - data,
                        "{}: tensor \"{}\" ends at byte {} of {}: the file was cut short", name, shown_name(p.name),
                        data + p.begin + p.bytes, bytes.size());
        tensors_.at(p.name).bytes = bytes.subspan(data + p.begin, p.bytes);
    }
}

GgufFile GgufFile::parse(std::span<const std::byte> bytes, std::string name) {
    GgufFile file;
    file.name_ = std::move(name);
    file.add_part(bytes, file.name_, 0);
    return file;
}

GgufFile GgufFile::open(const std::filesystem::path& path) {
    GgufFile file;
    file.name_ = path.string();
    file.add_part(file.files_.emplace_back(path).bytes(), file.name_, 0);
    const std::uint64_t parts = file.size("split.count").value_or(1);
    check<BadInput>(parts <= kMaxParts, "{}: split.count is {}, of at most {}", file.name_, parts, kMaxParts);
    for (std::uint64_t part = 1; part < parts; ++part) {
        const std::filesystem::path other = part_path(path, part, parts);
        file.add_part(file.files_.emplace_back(other).bytes(), other.string(), part);
    }
    return file;
}

void GgufFile::refuse(const std::string& key, const char* wanted) const {
    throw BadInput(fmt::format("{}: {} must be {}", name_, shown_name(key), wanted));
}

const GgufValue* GgufFile::find(const std::string& key, bool list) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return nullptr;
    if (found->second.list != list) refuse(key, list ? "a list" : "one value, not a list");
    return &found->second;
}

std::optional<std::string_view> GgufFile::text(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (value->type != ValueType::text) refuse(key, "a text");
    return std::string_view(reinterpret_cast<const char*>(value->bytes.data()) + 8, value->bytes.size() - 8);
}

std::optional<std::uint64_t> GgufFile::size(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (value->type == ValueType::u64) return load<std::uint64_t>(value->bytes.data());
    const double number = is_number(value->type) ? number_at(value->type, value->bytes.data()) : -1;
    if (!(number >= 0 && number < 0x1p63 && number == std::floor(number))) refuse(key, "a whole number");
    return static_cast<std::uint64_t>(number);
}

std::optional<double> GgufFile::number(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (!is_number(value->type)) refuse(key, "a number");
    const double number = number_at(value->type, value->bytes.data());
    if (!std::isfinite(number)) refuse(key, "a finite number");
    if (value->type != ValueType::f32) return number;
    return std::strtod(fmt::format("{}", static_cast<float>(number)).c_str(), nullptr);
}

std::optional<bool> GgufFile::flag(const std::string& key) const {
    const GgufValue* const value = find(key, false);
    if (!value) return std::nullopt;
    if (value->type != ValueType::flag) refuse(key, "true or false");
    return number_at(ValueType::u8, value->bytes.data()) != 0;
}

std::vector<std::string_view> GgufFile::texts(const std::string& key) const {
    const GgufValue* const value = find(key, true);
    std::vector<std::string_view> texts;
    if (!value) return texts;
    if (value->type != ValueType::text) refuse(key, "a list of texts");
    Cursor in(value->bytes, name_);
    texts.reserve(value->count);
    for (std::uint64_t i = 0; i < value->count; ++i) texts.push_back(in.text("a text"));
    return texts;
}

std::vector<double> GgufFile::numbers(const std::string& key, std::uint64_t count) const {
    const GgufValue* const value = find(key, true);
    if (value && !is_number(value->type)) refuse(key, "a list of numbers");
    const std::uint64_t found = value ? value->count : 0;
    check<BadInput>(found == count, "{}: {} must hold {} numbers, got {}", name_, shown_name(key), count, found);
    std::vector<double> numbers(count);
    for (std::uint64_t i = 0; i < count; ++i)
        numbers[i] = number_at(value->type, value->bytes.data() + i * fixed_size(value->type));
    return numbers;
}

const GgufTensor& GgufFile::tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    check<BadInput>(found != tensors_.end(), "{}: tensor \"{}\" is missing", name_, shown_name(name));
    return found->second;
}

template <class E>
std::uint64_t GgufFile::read_as(const std::string& name, E* out, std::uint64_t count) const {
    const GgufTensor& t = tensor(name);
    const GgufLayout& layout = *t.layout;
    check<BadInput>(layout.widen,
                    "{}: tensor \"{}\" is {}, which is not read: take a file of another type, or make it "
                    "one by llama-quantize --allow-requantize IN OUT Q8_0",
                    name_, shown_name(name), layout.name);
    check<BadInput>(t.count == count, "{}: tensor \"{}\" must hold {} numbers, got {}", name_, shown_name(name), count,
                    t.count);
    constexpr std::uint64_t kNumbers = 1 << 14;  // at a time: a multiple of each block
    return chunked_sum<std::uint64_t>(count, kNumbers, [&](std::size_t begin, std::size_t end) {
        const std::size_t n = end - begin;
        float* numbers = nullptr;
        if constexpr (std::is_same_v<E, float>)
            numbers = out + begin;
        else
            numbers = static_cast<float*>(thread_memory(n * sizeof(float)));
        layout.widen(t.bytes.data() + begin / layout.block * layout.bytes, n / layout.block, numbers);
        if constexpr (std::is_same_v<E, BFloat16>)
            std::transform(numbers, numbers + n, out + begin, [](float x) { return round_to_bfloat16(x); });
        return static_cast<std::uint64_t>(
            std::count_if(numbers, numbers + n, [](float x) { return !std::isfinite(x); }));
    });
}

std::uint64_t GgufFile::read(const std::string& name, float* out, std::uint64_t count) const {
    return read_as(name, out, count);
}

std::uint64_t GgufFile::read(const std::string& name, BFloat16* out, std::uint64_t count) const {
    return read_as(name, out, count);
}

void GgufFile::release(const std::string& name) const {
    const GgufTensor& t = tensor(name);
    if (t.part < files_.size()) files_[t.part].release(t.bytes.data(), t.bytes.size());
}

}  // namespace inkling::formats
