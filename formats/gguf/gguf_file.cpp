#include "formats/gguf/gguf_file.h"

#include <fmt/format.h>

#include <fstream>

#include "engine/base/check.h"
#include "engine/base/names.h"

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
    const auto part_of = [](const std::filesystem::path& one, std::size_t part) {
        const MappedFile mapped(one);
        return parse(mapped.bytes(), one.string(), part, mapped);
    };
    GgufFile file = part_of(path, 0);
    const std::uint64_t parts = file.size("split.count").value_or(1);
    check<BadInput>(parts <= kMaxParts, "{}: split.count is {}, of at most {}", file.name(), parts, kMaxParts);
    for (std::uint64_t part = 1; part < parts; ++part) {
        const std::filesystem::path other = part_path(path, part, parts);
        const GgufFile more = part_of(other, part);
        for (const auto& [tensor, t] : more.tensors())
            check<BadInput>(file.add_tensor(t), "{}: tensor \"{}\" appears twice", other.string(), shown_name(tensor));
    }
    return file;
}

}  // namespace inkling::formats
