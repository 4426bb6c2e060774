#include "report/attention_page.h"

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "formats/json.h"
#include "formats/sha256.h"
#include "report/pages.h"
#include "report/surface.h"

namespace inkling::report {
namespace {

using Json = nlohmann::ordered_json;

// Floats as little-endian bytes in base64: exact, and half as long as decimals that are.
std::string base64(std::span<const float> values) {
    std::string bytes;
    bytes.reserve(4 * values.size());
    for (const float value : values) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift & 0xFF);
    }
    return formats::base64(bytes);
}

}  // namespace

nlohmann::ordered_json attention_data(const AttentionMap& map, HeadIndex first) {
    Json weights = Json::array(), scale = Json::array();
    for (const std::vector<float>& triangle : map.triangles) weights.push_back(base64(triangle));
    for (const Colour c : kScale) scale.push_back({c.red, c.green, c.blue});
    return {{"model", map.model},
            {"tokens", map.tokens},
            {"layers", map.layers},
            {"heads", map.heads},
            {"first", {{"layer", first.layer}, {"head", first.head}}},
            {"scale", scale},
            {"exponent", map.exponent()},
            {"legend", kLegend},
            {"weights", weights}};
}

std::string attention_page(const AttentionMap& map, HeadIndex first) {
    return page_file(kAttentionPage, "Attention in " + map.model, attention_data(map, first));
}

std::string attention_json(const AttentionMap& map) {
    const Json head = {{"model", map.model}, {"tokens", map.tokens}, {"layers", map.layers}, {"heads", map.heads}};
    std::string text = formats::json_text(head);
    text.back() = ',';  // the object goes on; floats are written shorter here than as the doubles of the JSON library
    text += "\"weights\":[";
    const std::size_t count = map.tokens.size();
    for (std::size_t i = 0; i < map.layers * map.heads; ++i) {
        const HeadIndex at = {i / map.heads, i % map.heads};
        text += at.head == 0 ? "[[" : "[";
        for (std::size_t query = 0; query < count; ++query) {
            for (std::size_t key = 0; key < count; ++key)
                text += fmt::format("{}{}", key == 0 ? '[' : ',', map.weight(at, query, key));
            text += query + 1 < count ? "]," : "]";
        }
        text += at.head + 1 < map.heads ? "]," : at.layer + 1 < map.layers ? "]]," : "]]";
    }
    return text + "]}\n";
}

}  // namespace inkling::report
