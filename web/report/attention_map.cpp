#include "web/report/attention_map.h"

#include <algorithm>
#include <cmath>

#include "engine/ops.h"
#include "formats/utf8.h"

namespace inkling::web {
namespace {

// Characters that are invisible or change their neighbours.
bool is_hidden(char32_t c) {
    return (c >= 0x80 && c <= 0xA0) || c == 0xAD || c == 0x61C || (c >= 0x2000 && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F) || c == 0x3000 || c == 0xFEFF ||
           (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xFFF0 && c <= 0xFFFB) || c >= 0xE0000;
}

void append_visible(std::string& text, char32_t c) {
    if (c == ' ') {
        text += "␣";
    } else if (c == '\n') {
        text += "↵";
    } else if (c == '\t') {
        text += "⇥";
    } else if (c < 0x20) {
        formats::append_utf8(text, 0x2400 + c);
    } else if (c == 0x7F) {
        text += "␡";
    } else if (is_hidden(c)) {
        text += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(c));
    } else {
        if (c >= 0x300 && c <= 0x36F) text += "◌";  // an accent needs a base
        formats::append_utf8(text, c);
    }
}

// By a layer's output (1, T, C). A few rows at a time: logits of a large vocabulary take much memory, and so would a
// packed head that is widened for many (models/tensor_ops.h).
std::vector<AttentionMap::Guess> guesses(const models::Transformer<float>& model, const data::Tokenizer& tokenizer,
                                         const Tensor<float>& x) {
    constexpr std::size_t kRows = 12;
    const std::size_t V = std::min(model.config.vocab_size, tokenizer.vocab_size());
    std::vector<AttentionMap::Guess> all;
    for (std::size_t begin = 0; begin < x.dim(1); begin += kRows) {
        const Tensor<float> rows = slice(x, 1, begin, std::min(x.dim(1), begin + kRows));
        const ConstArray<float> p = softmax(slice(model.lens(rows), 2, 0, V)).value().contiguous();
        for (std::size_t i = 0; i < p.size(); i += V) {
            const float* const best = std::max_element(p.data() + i, p.data() + i + V);
            const auto id = static_cast<std::int32_t>(best - p.data() - i);
            all.push_back({visible(tokenizer.decode_more(std::span(&id, 1))), *best});
        }
    }
    return all;
}

}  // namespace

std::string visible(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const char32_t c = formats::next_code_point(text, at);
        if (c == formats::invalid_code_point) {
            result += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[begin]));
        } else {
            append_visible(result, c);
        }
    }
    return result;
}

AttentionMap attention_map(std::string name, const models::Transformer<float>& model, const data::Tokenizer& tokenizer,
                           std::string_view prompt, std::optional<HeadIndex> only) {
    check<BadInput>(!prompt.empty(), "the prompt is empty: attention needs a text");
    const std::size_t context = model.config.block_size;
    std::vector<std::int32_t> tokens;  // at most the context
    std::size_t length = 0;
    tokenizer.encode_parts(prompt, [&](std::span<const std::int32_t> more, std::size_t) {
        length += more.size();
        if (length <= context) tokens.insert(tokens.end(), more.begin(), more.end());
    });
    check<BadInput>(length <= context, "the prompt has {} tokens: the model's context holds {}: shorten it", length,
                    context);
    IdArray ids({1, length}, 0);
    std::copy(tokens.begin(), tokens.end(), ids.data());
    std::vector<Tensor<float>> weights;  // per layer (1, H, T, T)
    const NoGrad no_grad;
    models::Observers<float> observers;
    std::vector<std::vector<AttentionMap::Guess>> lens(model.config.n_layer);
    for (std::size_t layer = 0; layer < lens.size(); ++layer)
        observers["layers." + std::to_string(layer) + ".output"] = [&, layer](const Tensor<float>& x) {
            lens[layer] = guesses(model, tokenizer, x);
            return x;
        };
    model.hidden(ids, {.attention_weights = &weights, .observers = &observers});

    AttentionMap map{visible(name), {}, weights.size(), weights.at(0).value().dim(1), {}, std::move(lens)};
    for (const std::int32_t token : tokens) map.tokens.push_back(visible(tokenizer.decode_more(std::span(&token, 1))));
    for (std::size_t layer = 0; layer < map.layers; ++layer) {
        const ConstArray<float> rows = weights[layer].value().contiguous();
        for (std::size_t head = 0; head < map.heads; ++head) {
            std::vector<float>& triangle = map.triangles.emplace_back();
            if (only && (only->layer != layer || only->head != head)) continue;
            triangle.reserve(length * (length + 1) / 2);
            for (std::size_t query = 0; query < length; ++query) {
                const float* row = rows.data() + (head * length + query) * length;
                triangle.insert(triangle.end(), row, row + query + 1);
            }
            check(std::all_of(triangle.begin(), triangle.end(), [](float w) { return std::isfinite(w); }),
                  "attention: the model's weights in layer {}, head {} are not numbers", layer, head);
        }
    }
    return map;
}

double AttentionMap::exponent() const {
    return std::min(0.5, std::log(5.0) / std::log(static_cast<double>(tokens.size())));
}

double AttentionMap::position(double weight) const { return std::pow(std::clamp(weight, 0.0, 1.0), exponent()); }

Colour scale_colour(double position) {
    const double at = std::clamp(position, 0.0, 1.0) * (kScale.size() - 1);
    const std::size_t i = std::min(static_cast<std::size_t>(at), kScale.size() - 2);
    const auto mix = [&](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(std::lround(a + (b - a) * (at - static_cast<double>(i))));
    };
    const Colour low = kScale[i], high = kScale[i + 1];
    return {mix(low.red, high.red), mix(low.green, high.green), mix(low.blue, high.blue)};
}

}  // namespace inkling::web
