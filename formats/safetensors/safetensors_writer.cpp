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

// A JSON string. Text that is not UTF-8 has no such form.
std::string quoted(const std::string& text) {
    try {
        return nlohmann::json(text).dump();
    } catch (const nlohmann::json::exception&) {
        throw Error("safetensors: names and metadata must be valid UTF-8");
    }
}

void write_rounded(FileWriter& file, const float* from, std::uint64_t count, std::uint16_t (*narrow)(float)) {
    std::array<std::uint16_t, 32768> block;
    for (std::uint64_t done = 0; done < count;) {
        const auto n = std::min<std::uint64_t>(block.size(), count - done);
        std::transform(from + done, from + done + n, block.begin(), narrow);
        file.write(block.data(), n * sizeof(block[0]));
        done += n;
    }
}

}  // namespace

void SafetensorsWriter::set_metadata(std::string key, std::string value) {
    metadata_.insert_or_assign(std::move(key), std::move(value));
}

void SafetensorsWriter::add(std::string name, DType dtype, std::vector<std::uint64_t> shape, const void* data) {
    insert({{.name = std::move(name), .dtype = dtype, .shape = std::move(shape)}, data, false});
}

void SafetensorsWriter::add_rounded(std::string name, DType dtype, std::vector<std::uint64_t> shape,
                                    const float* data) {
    check(dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16,
          "safetensors: tensor \"{}\": float32 is stored as F32, F16 or BF16, got {}", name, dtype_name(dtype));
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    const float limit = dtype == DType::F16    ? 65520.0f     // rounds to infinity
                        : dtype == DType::BF16 ? 0x1.ffp127f  // the same
                                               : std::numeric_limits<float>::infinity();
    const float* const bad = std::find_if(data, data + count, [=](float x) { return !(std::abs(x) < limit); });
    check(bad == data + count, "safetensors: tensor \"{}\" has the value {}, for which {} has no number", name,
          bad == data + count ? 0 : *bad, dtype_name(dtype));
    insert({{.name = std::move(name), .dtype = dtype, .shape = std::move(shape)}, data, dtype != DType::F32});
}

// Checked here, so that the caller's stack names the tensor at fault.
void SafetensorsWriter::insert(Entry entry) {
    TensorInfo& info = entry.info;
    check(info.name != "__metadata__", "safetensors: a tensor cannot be named __metadata__: use set_metadata");
    std::uint64_t bits = dtype_bits(info.dtype);
    bool fits = true;
    for (const std::uint64_t extent : info.shape) {
        fits = fits && !__builtin_mul_overflow(bits, extent, &bits);
        info.count *= extent;
    }
    check(fits && bits % 8 == 0, "safetensors: tensor \"{}\": shape ({}) of {} must take whole bytes, fewer than 2^61",
          info.name, fmt::join(info.shape, ", "), dtype_name(info.dtype));
    info.end = bits / 8;
    const std::string name = info.name;
    check(entries_.emplace(name, std::move(entry)).second, "safetensors: tensor \"{}\" was added twice", name);
}

void SafetensorsWriter::write(const std::filesystem::path& path) const {
    std::vector<const Entry*> order;  // by name, as in the map; then by dtype
    for (const auto& [name, entry] : entries_) order.push_back(&entry);
    std::ranges::stable_sort(order, std::ranges::greater{}, [](const Entry* e) { return e->info.dtype; });

    std::string header;
    if (!metadata_.empty()) {
        for (const auto& [key, value] : metadata_)
            header += fmt::format("{}{}:{}", header.empty() ? "" : ",", quoted(key), quoted(value));
        header = "\"__metadata__\":{" + header + "}";
    }
    std::uint64_t next = 0;
    for (const Entry* e : order) {
        const std::uint64_t begin = std::exchange(next, next + e->info.end);
        check(next >= begin, "safetensors: more than 2^64 bytes of data");
        header +=
            fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", header.empty() ? "" : ",",
                        quoted(e->info.name), dtype_name(e->info.dtype), fmt::join(e->info.shape, ","), begin, next);
    }
    header = "{" + header + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = header.size();
    check(length <= 100'000'000, "safetensors: the header would take {} bytes, of at most 100,000,000", length);

    FileWriter file(path);
    file.write(&length, sizeof(length));
    file.write(header.data(), header.size());
    for (const Entry* e : order) {
        if (e->rounded)
            write_rounded(
                file, static_cast<const float*>(e->data), e->info.count,
                e->info.dtype == DType::F16 ? f32_to_f16 : +[](float x) { return round_to_bfloat16(x).bits; });
        else
            file.write(e->data, e->info.end);
    }
    file.commit();
}

}  // namespace inkling::formats
