#include "formats/safetensors/safetensors.h"

#include <algorithm>
#include <array>

namespace inkling::formats {
namespace {

// In the order of DType.
constexpr std::array<NumberLayout, 20> layouts = {{{"BOOL", 1, 1},    {"F4", 2, 1},      {"F6_E2M3", 4, 3},
                                                   {"F6_E3M2", 4, 3}, {"U8", 1, 1},      {"I8", 1, 1},
                                                   {"F8_E5M2", 1, 1}, {"F8_E4M3", 1, 1}, {"F8_E8M0", 1, 1},
                                                   {"I16", 1, 2},     {"U16", 1, 2},     {kFloat16},
                                                   {kBFloat16},       {"I32", 1, 4},     {"U32", 1, 4},
                                                   {kFloat32},        {"C64", 1, 8},     {"F64", 1, 8, widen_f64},
                                                   {"I64", 1, 8},     {"U64", 1, 8}}};

}  // namespace

const NumberLayout& layout_of(DType dtype) { return layouts[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_named(std::string_view name) {
    const auto found = std::ranges::find(layouts, name, &NumberLayout::name);
    if (found == layouts.end()) return std::nullopt;
    return static_cast<DType>(found - layouts.begin());
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
    const MappedFile mapped(path);
    return parse(mapped.bytes(), path.string(), mapped);
}

}  // namespace inkling::formats
