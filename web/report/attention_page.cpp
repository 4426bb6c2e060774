#include "web/report/attention_page.h"

#include <fmt/ranges.h>

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

Json lens_of(const AttentionMap& map) {
    Json lens = Json::array();
    for (const auto& layer : map.lens) {
        Json& row = lens.emplace_back(Json::array());
        for (const auto& [token, probability] : layer) row.push_back({token, probability});
    }
    return lens;
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
            {"weights", weights},
            {"lens", lens_of(map)}};
}

std::string attention_page(const AttentionMap& map, HeadIndex first) {
    return page_file(kAttentionPage, "Attention in " + map.model, attention_data(map, first));
}

std::string attention_json(const AttentionMap& map) {
    // fmt writes lists as JSON does; the JSON library would write floats as longer doubles
    const auto matrix = [&](HeadIndex at) {
        if (map.triangle(at).empty()) return std::string("null");
        std::vector<std::vector<float>> rows;
        for (std::size_t query = 0; query < map.tokens.size(); ++query) {
            const auto row = map.row(at, query);
            rows.emplace_back(row.begin(), row.end()).resize(map.tokens.size());
        }
        return fmt::format("{}", rows);
    };
    std::vector<std::string> layers;
    for (std::size_t layer = 0; layer < map.layers; ++layer) {
        std::vector<std::string> heads;
        for (std::size_t head = 0; head < map.heads; ++head) heads.push_back(matrix({layer, head}));
        layers.push_back(fmt::format("[{}]", fmt::join(heads, ",")));
    }
    std::string text = formats::json_text(Json{{"model", map.model},
                                               {"tokens", map.tokens},
                                               {"layers", map.layers},
                                               {"heads", map.heads},
                                               {"lens", lens_of(map)}});
    text.pop_back();  // the object continues
    return fmt::format("{},\"weights\":[{}]}}\n", text, fmt::join(layers, ","));
}

}  // namespace inkling::web
