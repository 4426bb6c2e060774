#include "data/tokenizers/bpe_tokenizer.h"

#include <algorithm>

#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/piece_cache.h"
#include "engine/check.h"
#include "engine/parallel.h"
#include "formats/named.h"

namespace inkling::data {

namespace {

constexpr std::size_t task_size = 1 << 18;   // bytes that one thread encodes at once
constexpr std::size_t batch_size = 1 << 24;  // bytes that all threads encode before their ids are handed over

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
        if (bytes && spec_.ignore_merges) {
            whole_.emplace(*bytes, id);
            longest_ = std::max(longest_, bytes->size());
        }
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

// The state of one thread that encodes tasks.
class BpeTokenizer::Encoder {
  public:
    explicit Encoder(const BpeTokenizer& tokenizer) : tokenizer_(tokenizer), scan_(tokenizer.pre_tokenizer_) {}

    // Calls full(ids) whenever `ids` has become large; the rest stays in `ids`.
    template <class Full>
    void encode(const Task& task, std::vector<std::int32_t>& ids, const Full& full) {
        const auto hand_over = [&] {
            if (ids.size() >= task_size) full(ids);
        };
        scan_.pieces(task.text, [&](std::string_view piece) {
            encode_piece(piece, ids, hand_over);
            hand_over();
        });
        if (task.id >= 0) ids.push_back(task.id);
    }

  private:
    template <class Between>
    void encode_piece(std::string_view piece, std::vector<std::int32_t>& ids, const Between& between) {
        if (const auto known = cache_.find(piece)) {
            ids.insert(ids.end(), known->begin(), known->end());
            return;
        }
        const std::size_t before = ids.size();
        const auto& whole = tokenizer_.whole_;
        const auto found = piece.size() > tokenizer_.longest_ ? whole.end() : whole.find(std::string(piece));
        if (found != whole.end()) {
            ids.push_back(found->second);
        } else if (piece.size() > task_size) {
            return tokenizer_.pairs_->append_ids(piece, ids, between);
        } else {
            tokenizer_.pairs_->append_ids(piece, ids);
        }
        cache_.insert(piece, std::span(ids).subspan(before));
    }

    const BpeTokenizer& tokenizer_;
    PreTokenizer::Scan scan_;
    PieceCache cache_;
};

// A task that cannot be cut may be all of the text: its ids are handed over as they are made. Those of others wait for
// the tasks before them.
void BpeTokenizer::encode_tasks(std::span<const Task> all, std::string_view text, const TakeIds& take) const {
    const auto end_of = [&](const Task& task) {
        return static_cast<std::size_t>(task.text.data() + task.text.size() - text.data());
    };
    if (all.size() == 1) {
        std::vector<std::int32_t> ids;
        ids.reserve(std::min(all[0].text.size(), task_size) / 3 + 1);
        const std::size_t begin = end_of(all[0]) - all[0].text.size();
        Encoder(*this).encode(all[0], ids, [&](std::vector<std::int32_t>& some) {
            take(some, begin);
            some.clear();
        });
        return take(ids, end_of(all[0]));
    }
    std::size_t bytes = 0;
    for (const Task& task : all) bytes += task.text.size();
    std::vector<std::vector<std::int32_t>> parts(all.size());  // by the first task of a thread; of the others empty
    std::vector<std::size_t> ends(all.size());
    parallel_for(all.size(), bytes > task_size ? 1 : all.size(), [&](std::size_t begin, std::size_t end) {
        Encoder encoder(*this);
        for (std::size_t i = begin; i < end; ++i) encoder.encode(all[i], parts[begin], [](const auto&) {});
        ends[begin] = end_of(all[end - 1]);
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!parts[i].empty()) take(parts[i], ends[i]);
        parts[i] = {};
    }
}

void BpeTokenizer::encode_parts(std::string_view text, const TakeIds& take) const {
    std::vector<Task> batch;
    std::size_t bytes = 0;
    const auto encode_batch = [&] {
        if (!batch.empty()) encode_tasks(batch, text, take);
        batch.clear();
        bytes = 0;
    };
    const auto add = [&](const Task& task) {
        const bool large = task.text.size() > batch_size;  // for itself: see encode_tasks
        if (large) encode_batch();
        batch.push_back(task);
        bytes += task.text.size();
        if (large || bytes >= batch_size || batch.size() >= task_size) encode_batch();
    };
    formats::named(origin, [&] {
        added_.cut(text, [&](const AddedTokens::Part& part) {
            if (part.id >= 0) return add({part.text.substr(part.text.size()), part.id});
            for (std::size_t at = 0; at < part.text.size();) {
                const bool whole = !pre_tokenizer_.may_be_cut() || part.text.size() - at <= task_size;
                const std::size_t end = whole ? part.text.size() : gpt2_safe_cut(part.text, at + task_size);
                add({part.text.substr(at, end - at)});
                at = end;
            }
        });
        encode_batch();
    });
}

std::size_t BpeTokenizer::safe_cut(std::string_view text, std::size_t from) const {
    return may_be_cut_ ? gpt2_safe_cut(text, from) : text.size();
}

std::string BpeTokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string bytes;
    bytes.reserve(4 * ids.size());
    for (const std::int32_t id : ids) {
        check<BadInput>(id >= 0 && static_cast<std::size_t>(id) < bytes_.size(), "token ids must be in [0, {}), got {}",
                        bytes_.size(), id);
        bytes += bytes_[static_cast<std::size_t>(id)];
    }
    return bytes;
}

}  // namespace inkling::data
