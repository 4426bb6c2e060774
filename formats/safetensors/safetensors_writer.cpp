// SafetensorsWriter: the same bytes as the safetensors package writes, tensors ordered by dtype (the widest first, so
// that each is aligned), then by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/half.h"
#include "formats/safetensors/safetensors.h"

namespace inkling::formats {
namespace {

std::string header_text(const nlohmann::ordered_json& header) {
    try {
        return header.dump();
    } catch (const nlohmann::json::exception&) {
        throw Error("safetensors: names and metadata must be valid UTF-8");
    }
}

// Checks, rounds and writes a block after the other, each while the cache holds it.
template <class Write>
void write_rounded(const std::string& name, DType dtype, const float* from, std::uint64_t count, const Write& write) {
    constexpr std::ptrdiff_t kBlock = 32768;
    std::array<std::uint16_t, kBlock> block;
    const float limit = dtype == DType::F16    ? 65520.0f     // rounds to infinity
                        : dtype == DType::BF16 ? 0x1.ffp127f  // the same
                                               : std::numeric_limits<float>::infinity();
    for (const float *end, *const all = from + count; from != all; from = end) {
        end = from + std::min(kBlock, all - from);
        const float* const bad = std::find_if(from, end, [=](float x) { return !(std::abs(x) < limit); });
        check(bad == end, "safetensors: tensor \"{}\" has the value {}, which is not finite as {}", name,
              bad == end ? 0 : *bad, layout_of(dtype).name);
        if (dtype == DType::F16) std::transform(from, end, block.begin(), f32_to_f16);
        if (dtype == DType::BF16)
            std::transform(from, end, block.begin(), [](float x) { return round_to_bfloat16(x).bits; });
        const bool whole = dtype == DType::F32;
        write(whole ? static_cast<const void*>(from) : block.data(),
              static_cast<std::size_t>(end - from) * (whole ? 4 : 2));
    }
}

}  // namespace

void SafetensorsWriter::set_metadata(std::string key, std::string value) {
    metadata_.insert_or_assign(std::move(key), std::move(value));
}

void SafetensorsWriter::add(std::string name, DType dtype, std::vector<std::uint64_t> shape, const void* data) {
    insert({std::move(name), dtype, std::move(shape), data});
}

void SafetensorsWriter::add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape,
                                    const float* data) {
    insert({std::move(name), dtype, std::move(shape), data, nullptr, true});
}

void SafetensorsWriter::add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape, Make make) {
    insert({std::move(name), dtype, std::move(shape), nullptr, std::move(make), true});
}

// Checked here, so that the caller's stack names the tensor at fault.
void SafetensorsWriter::insert(Entry entry) {
    const NumberLayout& layout = layout_of(entry.dtype);
    check(!entry.checked || entry.dtype == DType::F32 || entry.dtype == DType::F16 || entry.dtype == DType::BF16,
          "safetensors: tensor \"{}\": float32 is stored as F32, F16 or BF16, got {}", entry.name, layout.name);
    check(entry.name != "__metadata__", "safetensors: a tensor cannot be named __metadata__: use set_metadata");
    std::uint64_t bits = 8 * layout.bytes / layout.block;
    bool fits = true;
    for (const std::uint64_t extent : entry.shape) {
        fits = fits && !__builtin_mul_overflow(bits, extent, &bits);
        entry.count *= extent;
    }
    check(fits && bits % 8 == 0, "safetensors: tensor \"{}\": shape ({}) of {} must take whole bytes, fewer than 2^61",
          entry.name, fmt::join(entry.shape, ", "), layout.name);
    entry.bytes = bits / 8;
    const std::string name = entry.name;
    check(entries_.emplace(name, std::move(entry)).second, "safetensors: tensor \"{}\" was added twice", name);
}

void SafetensorsWriter::write(const std::filesystem::path& path, Sha256* hash) const {
    std::vector<const Entry*> order;  // by name, as in the map; then by dtype
    for (const auto& [name, entry] : entries_) order.push_back(&entry);
    std::ranges::stable_sort(order, std::ranges::greater{}, &Entry::dtype);

    auto entries = nlohmann::ordered_json::object();
    if (!metadata_.empty()) entries["__metadata__"] = metadata_;
    std::uint64_t next = 0;
    for (const Entry* e : order) {
        const std::uint64_t begin = std::exchange(next, next + e->bytes);
        check(next >= begin, "safetensors: more than 2^64 bytes of data");
        entries[e->name] = {{"dtype", layout_of(e->dtype).name}, {"shape", e->shape}, {"data_offsets", {begin, next}}};
    }
    std::string header = header_text(entries);
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = header.size();
    check(length <= 100'000'000, "safetensors: the header would take {} bytes, of at most 100,000,000", length);

    FileWriter file(path);
    const auto put = [&](const void* data, std::size_t size) {
        file.write(data, size);
        if (hash) hash->add({static_cast<const char*>(data), size});
    };
    put(&length, sizeof(length));
    put(header.data(), header.size());
    for (const Entry* e : order) {
        const ConstArray<float> made = e->make ? e->make() : ConstArray<float>();
        const void* const data = e->make ? made.data() : e->data;
        e->checked ? write_rounded(e->name, e->dtype, static_cast<const float*>(data), e->count, put)
                   : put(data, e->bytes);
    }
    file.commit();
}

}  // namespace inkling::formats
