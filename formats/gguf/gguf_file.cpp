#include "formats/gguf/gguf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "engine/base/parallel.h"
#include "engine/memory/buffer_pool.h"

namespace inkling::formats {
namespace {

constexpr std::uint64_t kMaxParts = 1000;

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

GgufFile GgufFile::open(const std::filesystem::path& path) {
    const MappedFile first(path);
    GgufFile file = parse(first.bytes(), path.string());
    file.files_.push_back(first);
    const std::uint64_t parts = file.size("split.count").value_or(1);
    check<BadInput>(parts <= kMaxParts, "{}: split.count is {}, of at most {}", file.name(), parts, kMaxParts);
    for (std::uint64_t part = 1; part < parts; ++part) {
        const std::filesystem::path other = part_path(path, part, parts);
        const GgufFile more = parse(file.files_.emplace_back(other).bytes(), other.string(), part);
        for (const auto& [tensor, t] : more.tensors_)
            check<BadInput>(file.tensors_.emplace(tensor, t).second, "{}: tensor \"{}\" appears twice", other.string(),
                            shown_name(tensor));
    }
    return file;
}

const GgufTensor& GgufFile::tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    check<BadInput>(found != tensors_.end(), "{}: tensor \"{}\" is missing", GgufValues::name(), shown_name(name));
    return found->second;
}

const GgufTensor& GgufFile::readable(const std::string& name) const {
    const GgufTensor& t = tensor(name);
    check<BadInput>(t.layout->widen,
                    "{}: tensor \"{}\" is {}, which is not read: take a file of another type, or make it "
                    "one by llama-quantize --allow-requantize IN OUT Q8_0",
                    GgufValues::name(), shown_name(name), t.layout->name);
    return t;
}

template <class E>
std::uint64_t GgufFile::read(const std::string& name, E* out, std::uint64_t count) const {
    const GgufTensor& t = readable(name);
    check<BadInput>(t.count == count, "{}: tensor \"{}\" must hold {} numbers, got {}", GgufValues::name(),
                    shown_name(name), count, t.count);
    constexpr std::uint64_t kNumbers = 1 << 14;  // at a time: a multiple of each block
    return chunked_sum<std::uint64_t>(count, kNumbers, [&](std::size_t begin, std::size_t end) {
        const std::size_t n = end - begin;
        float* numbers = nullptr;
        if constexpr (std::is_same_v<E, float>)
            numbers = out + begin;
        else
            numbers = static_cast<float*>(thread_memory(n * sizeof(float)));
        const std::uint64_t not_finite = t.widen(begin, numbers, n);
        if constexpr (std::is_same_v<E, BFloat16>)
            std::transform(numbers, numbers + n, out + begin, [](float x) { return round_to_bfloat16(x); });
        return not_finite;
    });
}

template std::uint64_t GgufFile::read(const std::string&, float*, std::uint64_t) const;
template std::uint64_t GgufFile::read(const std::string&, BFloat16*, std::uint64_t) const;

void GgufFile::release(const GgufTensor& t, std::uint64_t begin, std::uint64_t count) const {
    if (t.part < files_.size()) files_[t.part].release(t.bytes.data() + t.bytes_of(begin), t.bytes_of(count));
}

}  // namespace inkling::formats
