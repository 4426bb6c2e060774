#include "web/report/attention_page.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/json.h"
#include "formats/sha256.h"
#include "web/report/pages.h"

namespace inkling::web {
namespace {

using Json = nlohmann::ordered_json;

// Positions as bytes in base64; null for a head that was not requested.
Json positions(const AttentionMap& map, std::span<const float> weights) {
    if (weights.empty()) return nullptr;
    std::string bytes;
    for (const float weight : weights) bytes += static_cast<char>(std::lround(255 * map.position(weight)));
    return formats::base64(bytes);
}

}  // namespace

nlohmann::ordered_json attention_data(const AttentionMap& map, HeadIndex first) {
    Json weights = Json::array(), scale = Json::array();
    for (const std::vector<float>& triangle : map.triangles) weights.push_back(positions(map, triangle));
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
    text.back() = ',';  // the object continues; the JSON library would write floats as longer doubles
    text += "\"weights\":[";
    const std::size_t count = map.tokens.size();
    for (std::size_t i = 0; i < map.layers * map.heads; ++i) {
        const HeadIndex at = {i / map.heads, i % map.heads};
        if (at.head == 0) text += '[';
        if (map.triangle(at).empty()) {
            text += "null";
        } else {
            for (std::size_t query = 0; query < count; ++query) {
                for (std::size_t key = 0; key < count; ++key)
                    text += fmt::format("{}{}", key > 0 ? "," : query == 0 ? "[[" : "[", map.weight(at, query, key));
                text += query + 1 < count ? "]," : "]]";
            }
        }
        text += at.head + 1 < map.heads ? "," : at.layer + 1 < map.layers ? "]," : "]";
    }
    return text + "]}\n";
}

}  // namespace inkling::web
