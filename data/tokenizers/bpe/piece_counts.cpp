#include "data/tokenizers/bpe/piece_counts.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "data/tokenizers/split/pre_tokenizer.h"
#include "engine/base/parallel.h"

namespace inkling::data {

std::vector<PieceCount> count_pieces(std::span<const std::string_view> texts, const PreTokenizerSpec& spec) {
    constexpr std::size_t chunk_size = 1 << 20;
    std::vector<std::string_view> chunks;
    for (const std::string_view text : texts) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.size() - at <= chunk_size ? text.size() : gpt2_safe_cut(text, at + chunk_size);
            chunks.push_back(text.substr(at, end - at));
            at = end;
        }
    }
    const PreTokenizer pre(spec);
    std::unordered_map<std::string_view, std::int64_t> total;
    std::mutex mutex;
    parallel_for(chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
        std::unordered_map<std::string_view, std::int64_t> counts;
        PreTokenizer::Scan scan(pre);
        for (std::size_t i = begin; i < end; ++i) {
            scan.pieces(chunks[i], false, [&](std::string_view piece) { ++counts[piece]; });
        }
        const std::lock_guard lock(mutex);
        if (total.empty()) return total.swap(counts);
        for (const auto& [piece, count] : counts) total[piece] += count;
    });
    std::vector<PieceCount> sorted;
    sorted.reserve(total.size());
    for (const auto& [piece, count] : total) sorted.push_back({piece, count});
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.piece < b.piece; });
    return sorted;
}

}  // namespace inkling::data
