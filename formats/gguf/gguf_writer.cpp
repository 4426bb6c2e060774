#include "formats/gguf/gguf_writer.h"

#include <bit>
#include <utility>

#include "engine/base/check.h"
#include "formats/files/file.h"

namespace inkling::formats {
namespace {

using ValueType = GgufValueType;

static_assert(std::endian::native == std::endian::little, "GGUF is little endian");

constexpr std::uint64_t kAlignment = 32;  // of each tensor's data, the format's default

template <class T>
void append(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <class T>
void append_all(std::string& out, const std::vector<T>& values) {
    out.append(reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size());
}

void append_text(std::string& out, std::string_view text) {
    append<std::uint64_t>(out, text.size());
    out += text;
}

std::uint64_t padded(std::uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

std::string& GgufWriter::begin_value(const std::string& key, ValueType type) {
    check(names_.insert("key " + key).second, "gguf: the key {} was set twice", key);
    ++pairs_;
    append_text(pair_bytes_, key);
    append(pair_bytes_, type);
    return pair_bytes_;
}

std::string& GgufWriter::begin_list(const std::string& key, ValueType type, std::size_t count) {
    append(begin_value(key, ValueType::array), type);
    append<std::uint64_t>(pair_bytes_, count);
    return pair_bytes_;
}

void GgufWriter::set_u32(const std::string& key, std::uint32_t value) {
    append(begin_value(key, ValueType::u32), value);
}
void GgufWriter::set_f32(const std::string& key, float value) { append(begin_value(key, ValueType::f32), value); }
void GgufWriter::set_bool(const std::string& key, bool value) {
    append(begin_value(key, ValueType::flag), static_cast<std::uint8_t>(value));
}
void GgufWriter::set_text(const std::string& key, std::string_view value) {
    append_text(begin_value(key, ValueType::text), value);
}
void GgufWriter::set_texts(const std::string& key, const std::vector<std::string>& values) {
    std::string& out = begin_list(key, ValueType::text, values.size());
    for (const std::string& value : values) append_text(out, value);
}
void GgufWriter::set_i32s(const std::string& key, const std::vector<std::int32_t>& values) {
    append_all(begin_list(key, ValueType::i32, values.size()), values);
}
void GgufWriter::set_f32s(const std::string& key, const std::vector<float>& values) {
    append_all(begin_list(key, ValueType::f32, values.size()), values);
}

void GgufWriter::add(const std::string& name, GgufType type, const Shape& shape, NumberParts parts) {
    check(names_.insert("tensor " + name).second, "gguf: the tensor {} was added twice", name);
    const std::size_t count = size_of(shape);
    const NumberLayout& layout = *gguf_layout(type);
    check(!shape.empty() && count > 0 && shape.back() % layout.block == 0,
          "gguf: the tensor {} must not be empty, and for {} its rows need a multiple of {} numbers, got shape {}",
          name, layout.name, layout.block, shape);
    append_text(tensor_bytes_, name);
    append(tensor_bytes_, static_cast<std::uint32_t>(shape.size()));
    for (std::size_t i = shape.size(); i-- > 0;)
        append<std::uint64_t>(tensor_bytes_, shape[i]);  // the row's length first
    append(tensor_bytes_, static_cast<std::uint32_t>(type));
    append(tensor_bytes_, next_);
    next_ += padded(layout.bytes_of(count));
    entries_.push_back({name, type, count, std::move(parts)});
}

void GgufWriter::write(const std::filesystem::path& path) const {
    std::string bytes = "GGUF";
    append<std::uint32_t>(bytes, 3);
    append<std::uint64_t>(bytes, entries_.size());
    append(bytes, pairs_);
    bytes += pair_bytes_ + tensor_bytes_;
    bytes.resize(padded(bytes.size()), '\0');
    FileWriter file(path);
    file.write(bytes.data(), bytes.size());
    for (const Entry& e : entries_) {
        const NumberLayout& layout = *gguf_layout(e.type);
        e.parts([&](const ConstArray<float>& part) {
            write_rounded(layout, part.data(), part.size(), fmt::format("gguf: the tensor {}", e.name),
                          [&](const void* bytes_of_part, std::size_t size) { file.write(bytes_of_part, size); });
        });
        const std::uint64_t size = layout.bytes_of(e.count);
        const std::string padding(padded(size) - size, '\0');
        file.write(padding.data(), padding.size());
    }
    file.commit();
}

}  // namespace inkling::formats
