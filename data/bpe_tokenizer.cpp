#include "data/bpe_tokenizer.h"

#include <algorithm>

#include "data/byte_alphabet.h"
#include "data/piece_cache.h"
#include "engine/check.h"
#include "engine/parallel.h"

namespace inkling::data {

namespace {

constexpr std::size_t task_size = 1 << 18;  // bytes that one thread encodes in one go

}  // namespace

BpeTokenizer::BpeTokenizer(BpeSpec spec)
    : spec_(std::move(spec)), added_(spec_.added), pre_tokenizer_(spec_.pre_tokenizer) {
    std::array<std::int32_t, 256> single;
    single.fill(-1);
    bytes_.reserve(spec_.vocab.size() + spec_.added.size());
    for (const std::string& token : spec_.vocab) {
        const auto id = static_cast<std::int32_t>(bytes_.size());
        auto bytes = from_byte_letters(token);  // else it is no merge's, and stands for itself
        if (bytes && bytes->size() == 1) single[static_cast<unsigned char>((*bytes)[0])] = id;
        if (bytes && spec_.ignore_merges) whole_.emplace(*bytes, id);
        bytes_.push_back(bytes ? std::move(*bytes) : token);
    }
    for (const AddedToken& token : spec_.added) {
        const auto id = static_cast<std::size_t>(token.id);
        if (id >= bytes_.size()) bytes_.resize(id + 1);
        bytes_[id] = token.content;
        if (token.content == end_of_text_token) end_of_text_ = token.id;
    }
    // A cut is after a letter and before white space: it must not be inside of an added token, nor of what one takes.
    may_be_cut_ =
        pre_tokenizer_.may_be_cut() && std::none_of(spec_.added.begin(), spec_.added.end(), [](const auto& token) {
            return token.rstrip || gpt2_safe_cut(token.content, 0) < token.content.size();
        });
    check<BadInput>(!bytes_.empty(), "the vocabulary is empty");
    pairs_.emplace(single, spec_.merges);
}

std::vector<BpeTokenizer::Task> BpeTokenizer::tasks(std::string_view text) const {
    std::vector<Task> made;
    for (const auto& [part, id] : added_.cut(text)) {
        if (id >= 0) {
            made.push_back({part.substr(0, 0), id});
            continue;
        }
        for (std::size_t at = 0; at < part.size();) {
            const bool whole = !pre_tokenizer_.may_be_cut() || part.size() - at <= task_size;
            const std::size_t end = whole ? part.size() : gpt2_safe_cut(part, at + task_size);
            made.push_back({part.substr(at, end - at)});
            at = end;
        }
    }
    return made;
}

void BpeTokenizer::encode_piece(std::string_view piece, PieceCache& cache, std::vector<std::int32_t>& ids) const {
    if (const auto known = cache.find(piece)) {
        ids.insert(ids.end(), known->begin(), known->end());
        return;
    }
    const std::size_t before = ids.size();
    const auto whole = whole_.empty() ? whole_.end() : whole_.find(std::string(piece));
    if (whole != whole_.end()) {
        ids.push_back(whole->second);
    } else {
        pairs_->append_ids(piece, ids);
    }
    cache.insert(piece, std::span(ids).subspan(before));
}

std::vector<std::int32_t> BpeTokenizer::encode(std::string_view text) const {
    const std::vector<Task> all = tasks(text);
    std::vector<std::vector<std::int32_t>> parts(all.size());
    std::size_t bytes = 0;
    for (const Task& task : all) bytes += task.text.size();
    const std::size_t grain = bytes > task_size ? 1 : all.size();
    parallel_for(all.size(), grain, [&](std::size_t begin, std::size_t end) {
        PieceCache cache;
        PreTokenizer::Scan scan(pre_tokenizer_);
        for (std::size_t i = begin; i < end; ++i) {
            parts[i].reserve(all[i].text.size() / 3 + 1);
            scan.pieces(all[i].text, [&](std::string_view piece) { encode_piece(piece, cache, parts[i]); });
            if (all[i].id >= 0) parts[i].push_back(all[i].id);
        }
    });
    if (parts.size() == 1) return std::move(parts[0]);
    std::size_t count = 0;
    for (const auto& part : parts) count += part.size();
    std::vector<std::int32_t> ids;
    ids.reserve(count);
    for (const auto& part : parts) ids.insert(ids.end(), part.begin(), part.end());
    return ids;
}

std::size_t BpeTokenizer::safe_cut(std::string_view text, std::size_t from) const {
    return may_be_cut_ ? gpt2_safe_cut(text, from) : text.size();
}

std::string BpeTokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string bytes;
    bytes.reserve(4 * ids.size());
    for (const std::int32_t id : ids) {
        check<BadInput>(id >= 0 && static_cast<std::size_t>(id) < bytes_.size(), "a token id is in [0, {}), got {}",
                        bytes_.size(), id);
        bytes += bytes_[static_cast<std::size_t>(id)];
    }
    return bytes;
}

}  // namespace inkling::data
