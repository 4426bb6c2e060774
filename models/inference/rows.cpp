#include "models/inference/rows.h"

#include "engine/kernels/rotate_row.h"
#include "models/decoder.h"

namespace inkling::models {

// Divides the units of all texts' key heads, in order, among the threads; calls body(text, head, begin, end) for this
// thread's part.
template <class Units, class Body>
void Rows::share_heads(const Units& units, const Body& body) const {
    const std::size_t heads = config_.kv_heads();
    std::size_t all = 0;
    for (std::size_t b = 0; b < B_; ++b) all += heads * units(b);
    share(all, [&](std::size_t begin, std::size_t end) {
        std::size_t first = 0;
        for (std::size_t i = 0; i < B_ * heads && first < end; ++i) {
            const std::size_t b = i / heads, last = first + units(b);
            if (last > begin) body(b, i % heads, std::max(begin, first) - first, std::min(end, last) - first);
            first = last;
        }
    });
}

// Appends the text's key and value of one head to its cache, then lets the queries of that head attend to all its keys.
// Threads share the positions, then the columns of the values.
Rows::Value Rows::attend(const Layer& l, std::size_t layer, const Value& q, const Value& k, const Value& v,
                         double scale, std::size_t window) {
    const HeadShape& head = all_.head;
    const std::size_t d = head.size, half = config_.rotary_size() / 2;
    float* const room = attention_room_.data();
    // A text's token sees the last `length` positions, from `first` on.
    const auto first = [&](std::size_t b) {
        const std::size_t n = all_.caches[b]->length() + 1;
        return window > 0 && n > window ? n - window : 0;
    };
    const auto length = [&](std::size_t b) { return all_.caches[b]->length() + 1 - first(b); };
    const auto scores_of = [&](std::size_t b, std::size_t kv_head) {
        return all_.scores.data() + (b * config_.n_head + kv_head * head.queries) * head.stride;
    };
    const auto norm_and_rotate = [&](std::size_t b, float* x, ParameterName norm_name) {
        const auto norm = [&](float* h) {
            norm_row(NormKind::rms, d, l[norm_name], h, h);
            return h;
        };
        const auto rotate = [&](float* h) {
            const ConstArray<float>& angles = all_.angles[b].of(config_, layer);  // (1, 2, half)
            rotate_row<1>(h, angles.data(), angles.data() + half, 1.0f, half, half, h);
            return h;
        };
        decoder::qk_norm_and_rope(config_, x, norm, rotate);
    };
    wait();  // for the queries, keys and values
    share_heads(length, [&](std::size_t b, std::size_t kv_head, std::size_t begin, std::size_t end) {
        KvCache& cache = *all_.caches[b];
        const std::size_t at = cache.length();
        std::copy_n(q.data + b * q.stride + kv_head * head.queries * d, head.queries * d, room);
        for (std::size_t g = 0; g < head.queries; ++g) norm_and_rotate(b, room + g * d, ParameterName::query_norm);
        if (end == length(b)) {
            float* const key = room + head.queries * d;
            std::copy_n(k.data + b * k.stride + kv_head * d, d, key);
            norm_and_rotate(b, key, ParameterName::key_norm);
            cache.put(layer, kv_head, at, key, v.data + b * v.stride + kv_head * d);
        }
        attention_scores(head, room, cache.keys(layer, kv_head, first(b)), begin, end, static_cast<float>(scale),
                         scores_of(b, kv_head));
    });
    wait();
    const auto work = [&](std::size_t b) { return whole_lines(d) / kColumns * length(b); };
    share_heads(work, [&](std::size_t b, std::size_t kv_head, std::size_t begin, std::size_t end) {
        const std::size_t n = length(b);
        const auto column = [&](std::size_t unit) { return std::min(d, (unit + n - 1) / n * kColumns); };
        begin = column(begin), end = column(end);
        if (begin == end) return;
        float* const y = all_.attended.data() + b * all_.q_width + kv_head * head.queries * d;
        attention_values(head, scores_of(b, kv_head), n, all_.caches[b]->values(layer, kv_head, first(b)), begin, end,
                         room, y);
        for (std::size_t g = 0; g < head.queries; ++g) round_for(all_.precision, y + g * d + begin, end - begin);
    });
    wait();
    return {all_.attended.data(), all_.q_width, all_.q_width};
}

Rows::Value Rows::activate(Activation activation, const Value& x) {
    switch (activation) {
        case Activation::gelu_tanh:
            return map(x, [](auto v) { return activation_row::gelu(v); });
        case Activation::gelu_erf:
            return map(x, [](auto v) { return activation_row::gelu_erf(v); });
        case Activation::relu:
            return map(x, [](auto v) { return activation_row::relu(v); });
        case Activation::squared_relu:
            return map(x, [](auto v) { return activation_row::squared_relu(v); });
        case Activation::silu:
            return map(x, [](auto v) { return portable::silu(v); });
    }
    return x;
}

}  // namespace inkling::models
