// GgufFile::parse: reads and checks the header, of versions 2 and 3.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/ascii.h"
#include "formats/gguf/gguf_file.h"

namespace inkling::formats {
namespace {

using ValueType = GgufValueType;

static_assert(std::endian::native == std::endian::little, "GGUF is read as it lies in the file");

// The first is the format's own bound, the others are ours.
constexpr std::size_t kMaxDimensions = 4, kMaxPairs = 100'000, kMaxTensors = 250'000, kMaxName = 65'535;

// Reads the header's parts in order, within the file.
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
        return load_value<T>(take(sizeof(T), what).data());
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
    // Reads the number of items of at least `smallest` bytes that follow.
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
    // The bytes of `n` values that are not lists.
    std::span<const std::byte> values(ValueType type, std::uint64_t n, const char* what) {
        const std::uint64_t begin = at_, size = fixed_size(type);
        if (size) return take(n * size, what);
        for (std::uint64_t i = 0; i < n; ++i) text("a text");
        return bytes_.subspan(begin, at_ - begin);
    }

  private:
    std::span<const std::byte> bytes_;
    const std::string& file_;
    std::uint64_t at_ = 0;
};

GgufList read_list(Cursor& in, const std::string& key, const std::string& file) {
    GgufList list{.type = in.type(key)};
    check<BadInput>(list.type != ValueType::array, "{}: {} has lists in a list, which is not read", file,
                    shown_name(key));
    const std::uint64_t size = fixed_size(list.type);
    list.count = in.number(~std::uint64_t{0}, size ? size : 8, "elements of a list");
    list.bytes = in.values(list.type, list.count, "a list");
    return list;
}

nlohmann::json read_value(Cursor& in, ValueType type) {
    const nlohmann::json value = gguf_value(type, in.values(type, 1, "a value").data());
    if (type != ValueType::f32) return value;
    return *parse_number<double>(fmt::format("{}", value.get<float>()));
}

// Reads a tensor's entry, without its bytes, and their offset from the end of the header.
std::pair<FileTensor, std::uint64_t> read_tensor(Cursor& in, const std::string& file) {
    FileTensor t{.name = in.name("a tensor's name")};
    const std::string where = fmt::format("{}: tensor \"{}\"", file, shown_name(t.name));
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
    return {std::move(t), in.take<std::uint64_t>("a tensor's place")};
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

}  // namespace

GgufFile GgufFile::parse(std::span<const std::byte> bytes, const std::string& name, std::size_t part,
                         MappedFile mapped) {
    Cursor in(bytes, name);
    check_version(in, bytes, name);
    constexpr std::uint64_t kTensor = 24, kPair = 13;  // bytes of the smallest
    const std::uint64_t tensors = in.number(kMaxTensors, kTensor, "tensors"),
                        pairs = in.number(kMaxPairs, kPair, "keys");
    GgufFile file(name, mapped);
    for (std::uint64_t i = 0; i < pairs; ++i) {
        const std::string key = in.name("a key");
        const ValueType type = in.type(key);
        const bool added =
            type == ValueType::array ? file.add(key, read_list(in, key, name)) : file.add(key, read_value(in, type));
        check<BadInput>(added, "{}: the key {} appears twice", name, shown_name(key));
    }
    const std::uint64_t number = file.size("split.no").value_or(0);
    check<BadInput>(number == part, "{}: is part {} of a model in {} files: name the first, *-00001-of-*.gguf", name,
                    number + 1, file.size("split.count").value_or(0));
    const std::uint64_t alignment = file.size("general.alignment").value_or(32);
    check<BadInput>(std::has_single_bit(alignment) && alignment <= 1 << 20,
                    "{}: general.alignment must be a power of two up to 2^20, got {}", name, alignment);

    const auto padded = [&](std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
    std::vector<std::pair<FileTensor, std::uint64_t>> all;
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < tensors; ++i) {
        const auto& [t, offset] = all.emplace_back(read_tensor(in, name));
        const std::uint64_t size = t.layout->bytes_of(t.count);
        check<BadInput>(offset == next, "{}: tensor \"{}\" begins at byte {}, where {} is due: no holes, no overlaps",
                        name, shown_name(t.name), offset, next);
        check<BadInput>(size <= bytes.size() - std::min<std::uint64_t>(next, bytes.size()),
                        "{}: tensor \"{}\" takes {} bytes: the file was cut short", name, shown_name(t.name), size);
        next = padded(offset + size);
    }
    const auto source = std::make_shared<const TensorSource>(TensorSource{
        name, "take a file of another type, or make it one by llama-quantize --allow-requantize IN OUT Q8_0",
        std::move(mapped)});
    const std::uint64_t data = padded(in.at());
    for (auto& [t, offset] : all) {
        const std::uint64_t end = offset + t.layout->bytes_of(t.count);
        check<BadInput>(data <= bytes.size() && end <= bytes.size() - data,
                        "{}: tensor \"{}\" ends at byte {} of {}: the file was cut short", name, shown_name(t.name),
                        data + end, bytes.size());
        t.bytes = bytes.subspan(data + offset, end - offset);
        t.source = source;
        const std::string tensor = t.name;
        check<BadInput>(file.add_tensor(std::move(t)), "{}: tensor \"{}\" appears twice", name, shown_name(tensor));
    }
    return file;
}

}  // namespace inkling::formats
