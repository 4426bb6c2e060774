#include "cli/attention/page.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/attention/escape.h"
#include "cli/attention/page_parts.h"

namespace inkling::cli {
namespace {

using Json = nlohmann::ordered_json;

// Floats as little-endian bytes in base64: exact, and half as long as decimals that are.
std::string base64(std::span<const float> values) {
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve(values.size() * 16 / 3 + 4);
    std::uint32_t bits = 0;
    int held = 0;
    for (const float value : values) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        for (int shift = 0; shift < 32; shift += 8) {
            bits = bits << 8 | (word >> shift & 0xFF);
            for (held += 8; held >= 6; held -= 6) text += kDigits[bits >> (held - 6) & 63];
        }
    }
    if (held > 0) text += kDigits[bits << (6 - held) & 63];
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

// Inside <script>, "</script" and "<!--" mean something even within strings.
std::string for_script(const Json& json) {
    std::string text;
    for (const char c : json.dump(-1, ' ', true)) {  // ASCII
        if (c == '<' || c == '>' || c == '&') {
            text += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
            text += c;
        }
    }
    return text;
}

// Replaces each {{name}} of the template; what is put in is not looked at again.
std::string fill(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts) {
    std::string result;
    for (std::size_t at = 0;;) {
        const std::size_t begin = page.find("{{", at), end = page.find("}}", begin);
        if (end == std::string_view::npos) return result.append(page.substr(at));
        result.append(page.substr(at, begin - at));
        for (const auto& [name, text] : parts)
            if (name == page.substr(begin + 2, end - begin - 2)) result += text;
        at = end + 2;
    }
}

}  // namespace

std::string attention_page(const AttentionMap& map, HeadIndex first) {
    Json weights = Json::array(), scale = Json::array();
    for (const std::vector<float>& triangle : map.triangles) weights.push_back(base64(triangle));
    for (const Colour c : kScale) scale.push_back({c.red, c.green, c.blue});
    const Json data = {{"model", map.model},
                       {"tokens", map.tokens},
                       {"layers", map.layers},
                       {"heads", map.heads},
                       {"first", {{"layer", first.layer}, {"head", first.head}}},
                       {"scale", scale},
                       {"exponent", map.exponent()},
                       {"legend", kLegend},
                       {"weights", weights}};
    return fill(kPageHtml, {{"model", escape_markup(map.model)},
                            {"layers", std::to_string(map.layers)},
                            {"heads", std::to_string(map.heads)},
                            {"tokens", std::to_string(map.tokens.size())},
                            {"data", for_script(data)},
                            {"page.css", std::string(kPageCss)},
                            {"data.js", std::string(kDataJs)},
                            {"map.js", std::string(kMapJs)},
                            {"page.js", std::string(kPageJs)}});
}

std::string attention_json(const AttentionMap& map) {
    const Json head = {{"model", map.model}, {"tokens", map.tokens}, {"layers", map.layers}, {"heads", map.heads}};
    std::string text = head.dump();
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

}  // namespace inkling::cli
