#include "formats/gguf/gguf_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/half.h"
#include "engine/base/q8_block.h"
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

// The largest finite value of the type, after rounding.
float largest(GgufType type) {
    if (type == GgufType::F16) return 65519;
    if (type == GgufType::Q8_0) return 65504.0f * 127;
    if (type == GgufType::Q4_0) return 65504.0f * 8;
    return type == GgufType::BF16 ? 3.39e38f : std::numeric_limits<float>::max();
}

void append_q8(std::string& out, const float* x) {
    std::int8_t q[kQ8Block];
    append(out, round_to_q8(x, q));
    out.append(reinterpret_cast<const char*>(q), sizeof q);
}

// d q - 8 d, 0 <= q < 16, with the number that is largest by its size as -8 d; two halves of 16 share 16 bytes.
void append_q4(std::string& out, const float* x) {
    float largest = 0;
    for (std::size_t i = 0; i < kQ8Block; ++i)
        if (std::abs(x[i]) > std::abs(largest)) largest = x[i];
    const float d = largest / -8, inverse = std::isfinite(1 / d) ? 1 / d : 0;
    append(out, f32_to_f16(d));
    const auto quantized = [&](float v) { return std::min(15u, static_cast<unsigned>(v * inverse + 8.5f)); };
    for (std::size_t i = 0; i < kQ8Block / 2; ++i)
        append(out, static_cast<std::uint8_t>(quantized(x[i]) | quantized(x[i + kQ8Block / 2]) << 4));
}

void append_values(std::string& out, GgufType type, const float* x, std::size_t n) {
    switch (type) {
        case GgufType::F32:
            out.append(reinterpret_cast<const char*>(x), 4 * n);
            break;
        case GgufType::F16:
            for (std::size_t i = 0; i < n; ++i) append(out, f32_to_f16(x[i]));
            break;
        case GgufType::BF16:
            for (std::size_t i = 0; i < n; ++i) append(out, round_to_bfloat16(x[i]).bits);
            break;
        case GgufType::Q8_0:
            for (std::size_t i = 0; i < n; i += kQ8Block) append_q8(out, x + i);
            break;
        case GgufType::Q4_0:
            for (std::size_t i = 0; i < n; i += kQ8Block) append_q4(out, x + i);
            break;
        default:
            check(false, "gguf: {} is not written", gguf_layout(type)->name);
    }
}

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

void GgufWriter::add(const std::string& name, GgufType type, const Shape& shape, Make make) {
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
    entries_.push_back({name, type, count, std::move(make)});
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
        constexpr std::size_t kPart = 1 << 16;  // numbers at a time, a multiple of a block
        const ConstArray<float> made = e.make();
        const float limit = largest(e.type);
        for (std::size_t done = 0; done < e.count; done += kPart) {
            const float *const part = made.data() + done, *const end = part + std::min(kPart, e.count - done);
            const float* const bad = std::find_if(part, end, [=](float x) { return !(std::abs(x) <= limit); });
            check(bad == end, "gguf: the tensor {} has the value {}, which is out of range for this type", e.name,
                  bad == end ? 0 : *bad);
            bytes.clear();
            append_values(bytes, e.type, part, static_cast<std::size_t>(end - part));
            file.write(bytes.data(), bytes.size());
        }
        const std::uint64_t size = gguf_layout(e.type)->bytes_of(e.count);
        const std::string padding(padded(size) - size, '\0');
        file.write(padding.data(), padding.size());
    }
    file.commit();
}

}  // namespace inkling::formats
