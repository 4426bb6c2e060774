// SafetensorsFile::parse: every rule of the format is checked, and only the tensors are kept, so that a hostile file
// (100 MB of header, a million tensors) costs little memory and time.
#include "formats/safetensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/json.h"

namespace inkling::formats {
namespace {

constexpr std::uint64_t max_header = 100'000'000;  // the format's own bound; those below are ours
constexpr std::size_t max_token = 16 << 20;        // bytes of one string or number, which the lexer keeps twice
constexpr std::size_t max_tensors = 250'000, max_metadata = 100'000;
constexpr std::size_t max_dimensions = 64;   // PyTorch's
constexpr int max_depth = 8;                 // a valid header needs 3
constexpr std::size_t max_values = 1 << 21;  // 7 for a tensor

using nlohmann::json;

const json& value_at(const json& entry, const char* key, const std::string& where) {
    const auto found = entry.find(key);
    if (found == entry.end()) throw BadInput(fmt::format("{}: {} is missing", where, key));
    return *found;
}

std::vector<std::uint64_t> numbers_at(const json& entry, const char* key, const std::string& where) {
    const json& list = value_at(entry, key, where);
    check<BadInput>(list.is_array(), "{}: {} must be a list", where, key);
    check<BadInput>(list.size() <= max_dimensions, "{}: {} has more than {} numbers", where, key, max_dimensions);
    // nlohmann keeps apart what JSON writes apart: 1.0 and 1e2 are floats, -0 is signed, 2^64 is a float
    check<BadInput>(std::all_of(list.begin(), list.end(), [](const json& n) { return n.is_number_unsigned(); }),
                    "{}: {} must hold integers from 0 to 2^64 - 1", where, key);
    return list.get<std::vector<std::uint64_t>>();
}

// A tensor, and the range of its bytes behind the header.
struct PlacedTensor {
    FileTensor tensor;
    std::uint64_t begin, end;
};

PlacedTensor read_tensor(const std::string& name, const json& entry, const std::string& file) {
    const std::string where = fmt::format("{}: tensor \"{}\"", file, shown_name(name));
    const auto product = [&](std::uint64_t a, std::uint64_t b) {
        std::uint64_t result = 0;
        check<BadInput>(!__builtin_mul_overflow(a, b, &result), "{}: the shape has more elements than 64 bits count",
                        where);
        return result;
    };
    check<BadInput>(entry.is_object(), "{}: dtype, shape and data_offsets are required", where);
    const json& type = value_at(entry, "dtype", where);
    check<BadInput>(type.is_string(), "{}: dtype must be a name", where);
    const auto dtype = dtype_named(type.get_ref<const std::string&>());
    check<BadInput>(dtype.has_value(), "{}: dtype \"{}\" is unknown", where,
                    shown_name(type.get_ref<const std::string&>()));
    const NumberLayout& layout = layout_of(*dtype);
    FileTensor t{.name = name, .layout = &layout, .shape = numbers_at(entry, "shape", where)};
    const std::vector<std::uint64_t> offsets = numbers_at(entry, "data_offsets", where);
    check<BadInput>(offsets.size() == 2, "{}: data_offsets must be [begin, end]", where);
    const std::uint64_t begin = offsets[0], end = offsets[1];
    for (const std::uint64_t extent : t.shape) t.count = product(t.count, extent);
    check<BadInput>(begin <= end, "{}: data_offsets [{}, {}] end before they begin", where, begin, end);
    check<BadInput>(t.count % layout.block == 0, "{}: {} elements of {} do not fill whole bytes", where, t.count,
                    layout.name);
    const std::uint64_t bytes = product(t.count / layout.block, layout.bytes);
    check<BadInput>(bytes == end - begin, "{}: the shape takes {} bytes of {}, data_offsets [{}, {}] give {}", where,
                    bytes, layout.name, begin, end, end - begin);
    return {std::move(t), begin, end};
}

std::map<std::string, std::string> read_metadata(const json& values, const std::string& file) {
    std::map<std::string, std::string> metadata;
    check<BadInput>(values.is_object(), "{}: __metadata__ must be an object", file);
    check<BadInput>(values.size() <= max_metadata, "{}: more than {} entries of __metadata__", file, max_metadata);
    for (const auto& [key, value] : values.items()) {
        check<BadInput>(value.is_string(), "{}: __metadata__ \"{}\" must be a string", file, shown_name(key));
        metadata.emplace(key, value.get<std::string>());
    }
    return metadata;
}

// Strings and numbers of a bounded length, before the lexer sees them.
void check_tokens(std::string_view header, const std::string& name) {
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const char c = header[i];
        if (quoted) {
            if (c == '\\') ++i;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
            begin = i;
        } else if (c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}') {
            begin = i;
        }
        check<BadInput>(i < begin + max_token, "{}: header: a string or number of more than {} bytes", name, max_token);
    }
}

// The data is one row of tensors: no holes, no overlaps, nothing behind the last. So no byte has two meanings, or none.
void check_layout(std::vector<PlacedTensor>& tensors, std::uint64_t size, const std::string& file) {
    std::ranges::sort(tensors, {}, [](const PlacedTensor& t) { return std::tie(t.begin, t.end); });
    std::uint64_t next = 0;
    for (const auto& [tensor, begin, end] : tensors) {
        check<BadInput>(begin == next, "{}: tensor \"{}\" begins at byte {}, where {} is due: no holes, no overlaps",
                        file, shown_name(tensor.name), begin, next);
        next = end;
    }
    check<BadInput>(next == size, "{}: the tensors take {} bytes, but {} follow the header: the file was {}", file,
                    next, size, next > size ? "cut short" : "added to");
}

}  // namespace

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, const std::string& name, MappedFile mapped) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    check<BadInput>(!text.starts_with("version https://git-lfs"),
                    "{}: a Git LFS pointer, not the weights: run git lfs pull in its folder", name);
    std::uint64_t length = 0;
    check<BadInput>(bytes.size() >= sizeof(length), "{}: a safetensors file has at least 8 bytes, got {}", name,
                    bytes.size());
    std::memcpy(&length, bytes.data(), sizeof(length));
    const std::uint64_t rest = bytes.size() - sizeof(length);
    check<BadInput>(length <= max_header, "{}: not a safetensors file: its header would take {} bytes, of at most {}",
                    name, length, max_header);
    check<BadInput>(length <= rest, "{}: the header takes {} bytes, but {} follow: the file was cut short", name,
                    length, rest);
    std::string_view head = text.substr(sizeof(length), length);
    check<BadInput>(head.starts_with('{'), "{}: not a safetensors file: its header must begin with {{", name);
    head = head.substr(0, head.find_last_not_of(' ') + 1);  // the padding
    check_tokens(head, name);

    SafetensorsFile file(name);
    std::vector<PlacedTensor> tensors;
    json all = parse_json(head, name + ": header", max_depth, max_values);
    check<BadInput>(all.size() <= max_tensors, "{}: more than {} tensors", name, max_tensors);
    for (auto at = all.begin(); at != all.end(); at = all.erase(at)) {  // which frees its memory
        if (at.key() == "__metadata__")
            file.metadata_ = read_metadata(*at, name);
        else
            tensors.push_back(read_tensor(at.key(), *at, name));
    }
    check_layout(tensors, rest - length, name);
    const auto source =
        std::make_shared<const TensorSource>(TensorSource{name, "F64, F32, F16 and BF16 are", std::move(mapped)});
    for (auto& [tensor, begin, end] : tensors) {
        tensor.bytes = bytes.subspan(sizeof(length) + length + begin, end - begin);
        tensor.source = source;
        file.add_tensor(std::move(tensor));
    }
    return file;
}

}  // namespace inkling::formats
