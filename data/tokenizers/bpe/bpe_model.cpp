#include "data/tokenizers/bpe/bpe_model.h"

#include <algorithm>

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "data/tokenizers/unknown_characters.h"
#include "engine/base/check.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

constexpr std::size_t longest_cached = 1 << 18;  // bytes; the ids of longer pieces are passed on in parts
constexpr std::string_view word_sign = "\u2581";

}  // namespace

BpeModel::BpeModel(const BpeModelSpec& spec)
    : byte_letters_(spec.byte_letters), fuse_unk_(spec.fuse_unk), pairs_(spec.merges) {
    byte_ids_.fill(-1);
    bytes_.reserve(spec.vocab.size());
    for (const std::string& token : spec.vocab) {
        const auto id = static_cast<std::int32_t>(bytes_.size());
        // A token that is not in byte letters is part of no merge and stands for itself.
        auto bytes = byte_letters_ ? from_byte_letters(token) : token;
        if (byte_letters_ && bytes && bytes->size() == 1) byte_ids_[static_cast<unsigned char>((*bytes)[0])] = id;
        if (bytes && spec.ignore_merges && !bytes->empty()) {
            whole_.emplace(*bytes, id);
            longest_ = std::max(longest_, bytes->size());
        }
        std::size_t end = 0;
        const char32_t c = token.empty() ? formats::invalid_code_point : formats::next_code_point(token, end);
        if (!byte_letters_ && c != formats::invalid_code_point && end == token.size()) {
            if (c >= characters_.size()) characters_.resize(c + 1, -1);
            characters_[c] = id;
        }
        bytes_.push_back(bytes ? std::move(*bytes) : token);
    }
    check<BadInput>(!bytes_.empty(), "the vocabulary is empty");
    if (byte_letters_) return;

    const auto id_of = [&](const std::string& token) {
        const auto found = std::find(spec.vocab.begin(), spec.vocab.end(), token);
        return found == spec.vocab.end() ? -1 : static_cast<std::int32_t>(found - spec.vocab.begin());
    };
    for (std::size_t byte = 0; spec.byte_fallback && byte < 256; ++byte)
        byte_ids_[byte] = id_of(fallback_token(static_cast<char>(byte)));
    if (spec.unk_token) {
        unknown_ = id_of(*spec.unk_token);
        check<BadInput>(unknown_ >= 0, "model.unk_token is not in the vocabulary");
    }
    const auto text = [&](std::int32_t id) -> std::string_view { return spec.vocab[static_cast<std::size_t>(id)]; };
    may_be_cut_ = !spec.ignore_merges && id_of(std::string(word_sign)) >= 0 &&
                  std::none_of(spec.merges.begin(), spec.merges.end(), [&](const Merge& m) {
                      return text(m.right).starts_with(word_sign) && !text(m.left).ends_with(word_sign);
                  });
}

std::size_t BpeModel::cut_before(std::string_view text, std::size_t from) {
    for (std::size_t at = std::max<std::size_t>(from, 1);; ++at) {
        at = text.find(word_sign, at);
        if (at == std::string_view::npos) return text.size();
        if (!text.substr(0, at).ends_with(word_sign)) return at;
    }
}

void BpeModel::Encoder::append_ids(std::string_view piece, std::vector<std::int32_t>& ids,
                                   const BytePairs::Between& between) {
    if (const auto known = cache_.find(piece)) {
        ids.insert(ids.end(), known->begin(), known->end());
        return;
    }
    const std::size_t before = ids.size();
    const bool lasting = piece.size() <= longest_cached;
    const auto& whole = model_.whole_;
    const auto found = piece.size() > model_.longest_ ? whole.end() : whole.find(std::string(piece));
    if (found != whole.end()) {
        ids.push_back(found->second);
    } else if (model_.byte_letters_) {
        const auto id_at = [&](std::size_t i) {
            const auto byte = static_cast<unsigned char>(piece[i]);
            const std::int32_t id = model_.byte_ids_[byte];
            check<BadInput>(id >= 0, "the byte 0x{:02X} is not in the vocabulary", byte);
            return id;
        };
        model_.pairs_.append_ids(piece.size(), id_at, ids, lasting ? nullptr : between);
    } else {
        append_symbols(piece);
        const auto id_at = [&](std::size_t i) { return symbols_[i]; };
        model_.pairs_.append_ids(symbols_.size(), id_at, ids, lasting ? nullptr : between);
    }
    if (lasting) cache_.insert(piece, std::span(ids).subspan(before));
}

// Bytes come before a pending unknown character, which waits for adjacent ones, as in the `tokenizers` library.
void BpeModel::Encoder::append_symbols(std::string_view piece) {
    symbols_.clear();
    bool waiting = false;  // an unknown character is pending
    for (std::size_t at = 0; at < piece.size();) {
        const std::size_t begin = at;
        const char32_t c = formats::next_code_point(piece, at);
        const std::int32_t id = c < model_.characters_.size() ? model_.characters_[c] : -1;
        if (id >= 0) {
            if (waiting) symbols_.push_back(model_.unknown_);
            waiting = false;
            symbols_.push_back(id);
            continue;
        }
        const std::string_view bytes = piece.substr(begin, at - begin);
        const auto fallback = [&](char byte) { return model_.byte_ids_[static_cast<unsigned char>(byte)]; };
        if (std::all_of(bytes.begin(), bytes.end(), [&](char byte) { return fallback(byte) >= 0; })) {
            for (const char byte : bytes) symbols_.push_back(fallback(byte));
            continue;
        }
        check<BadInput>(model_.unknown_ >= 0, "the character {} is not in the vocabulary",
                        c == formats::invalid_code_point ? fmt::format("0x{:02X}", static_cast<unsigned char>(bytes[0]))
                                                         : quoted_character(c));
        if (waiting && !model_.fuse_unk_) symbols_.push_back(model_.unknown_);
        waiting = true;
    }
    if (waiting) symbols_.push_back(model_.unknown_);
}

}  // namespace inkling::data
