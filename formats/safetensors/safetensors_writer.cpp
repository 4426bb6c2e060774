// SafetensorsWriter: the same bytes as the safetensors package writes, tensors ordered by dtype (the widest first, so
// that each is aligned), then by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/check.h"
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

void SafetensorsWriter::add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape,
                                    NumberParts parts) {
    insert({std::move(name), dtype, std::move(shape), nullptr, std::move(parts), true});
}

// Checked here, so that the caller's stack names the tensor at fault.
void SafetensorsWriter::insert(Entry entry) {
    const NumberLayout& layout = layout_of(entry.dtype);
    check(!entry.checked || layout.limit > 0,
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
        const auto round = [&](const float* from, std::uint64_t count) {
            write_rounded(layout_of(e->dtype), from, count, fmt::format("safetensors: tensor \"{}\"", e->name), put);
        };
        if (e->parts)
            e->parts([&](const ConstArray<float>& part) { round(part.data(), part.size()); });
        else if (e->checked)
            round(static_cast<const float*>(e->data), e->count);
        else
            put(e->data, e->bytes);
    }
    file.commit();
}

}  // namespace inkling::formats
