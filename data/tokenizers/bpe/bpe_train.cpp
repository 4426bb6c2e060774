#include "data/tokenizers/bpe/bpe_train.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "data/tokenizers/bpe/byte_pairs.h"
#include "engine/base/check.h"
#include "engine/base/parallel.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

using Id = std::int32_t;
using Pair = std::uint64_t;  // pair_of

using PieceCounts = std::vector<std::pair<std::string_view, std::int64_t>>;

// Each piece of the texts once, sorted by its bytes, so that the result does not depend on the number of threads.
PieceCounts count_pieces(std::span<const std::string_view> texts, const PreTokenizerSpec& spec) {
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
    PieceCounts sorted(total.begin(), total.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

struct PairState {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  // words in which it has appeared since it was last queued
};

// Maps pairs to their states by open addressing. States keep their address when the table grows.
class PairTable {
  public:
    PairState& operator[](Pair pair) {
        if (2 * (states_.size() + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(pair)];
        if (slot.state == none) {
            slot = {pair, static_cast<std::uint32_t>(states_.size())};
            states_.push_back(std::make_unique<PairState>());
        }
        return *states_[slot.state];
    }

  private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;
    struct Slot {
        Pair pair = 0;
        std::uint32_t state = none;
    };
    std::size_t place(Pair pair) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = ((pair ^ (pair >> 29)) * 0x9E3779B97F4A7C15u) >> 20 & mask;
        while (slots_[i].state != none && slots_[i].pair != pair) i = (i + 1) & mask;
        return i;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.state != none) slots_[place(slot.pair)] = slot;
    }
    std::vector<Slot> slots_ = std::vector<Slot>(1 << 16);
    std::vector<std::unique_ptr<PairState>> states_;
};

// A pair in the queue: the most frequent comes first, then the one with the smaller ids. `count` may be out of date.
struct Candidate {
    std::int64_t count;
    Pair pair;
    std::vector<std::uint32_t> words;
    bool operator<(const Candidate& other) const {
        return count != other.count ? count < other.count : pair > other.pair;
    }
};

class Training {
  public:
    Training(const PieceCounts& pieces, std::size_t vocab_size) : vocab_size_(vocab_size) {
        add_token(end_of_text_token);
        std::array<char32_t, 256> letters = byte_letters();
        std::sort(letters.begin(), letters.end());
        std::array<Id, 256> id_of_byte;
        for (const char32_t letter : letters) {
            std::string token;
            formats::append_utf8(token, letter);
            id_of_byte[static_cast<unsigned char>((*from_byte_letters(token))[0])] = add_token(token);
        }
        for (const auto& [piece, count] : pieces) {
            words_.push_back({symbols_.size(), piece.size(), count});
            for (const char c : piece) symbols_.push_back(id_of_byte[static_cast<unsigned char>(c)]);
        }
        check(words_.size() < 0xFFFFFFFF, "train_bpe: at most 2^32 - 2 different pieces are supported, got {}",
              words_.size());
        for (std::uint32_t w = 0; w < words_.size(); ++w) {
            for (std::size_t i = 1; i < words_[w].length; ++i) {
                const Id* const s = &symbols_[words_[w].first + i];
                add(s[-1], s[0], words_[w].count, w);
            }
        }
        queue_changed();
    }

    BpeSpec run() {
        while (spec_.vocab.size() < vocab_size_ && !queue_.empty()) {
            std::pop_heap(queue_.begin(), queue_.end());
            Candidate top = std::move(queue_.back());
            queue_.pop_back();
            if (const std::int64_t count = pairs_[top.pair].count; top.count != count) {
                top.count = count;
                push(std::move(top));
                continue;
            }
            if (top.count < 1) break;
            merge(top);
        }
        keep_last_of_equals(spec_.merges);
        return std::move(spec_);
    }

  private:
    struct Word {
        std::size_t first, length;  // range of symbols_
        std::int64_t count;
    };

    Id add_token(const std::string& token) {
        const auto [place, fresh] = ids_.emplace(token, static_cast<Id>(spec_.vocab.size()));
        if (!fresh) return place->second;
        spec_.vocab.push_back(token);
        lengths_.push_back(1);  // a byte; merge() overwrites it
        return place->second;
    }

    std::size_t length(Id id) const { return lengths_[static_cast<std::size_t>(id)]; }

    void remove(Pair pair, std::int64_t count) { pairs_[pair].count -= count; }

    void add(Id left, Id right, std::int64_t count, std::uint32_t word) {
        if (length(left) + length(right) >= max_bpe_token_length) return;
        const Pair pair = pair_of(left, right);
        PairState& state = pairs_[pair];
        state.count += count;
        if (state.words.empty()) changed_.push_back(pair);
        if (state.words.empty() || state.words.back() != word) state.words.push_back(word);
    }

    void push(Candidate candidate) {
        queue_.push_back(std::move(candidate));
        std::push_heap(queue_.begin(), queue_.end());
    }

    void queue_changed() {
        for (const Pair pair : changed_) {
            PairState& state = pairs_[pair];
            if (state.count > 0) push({state.count, pair, std::move(state.words)});
            state.words = {};
        }
        changed_.clear();
    }

    void merge(const Candidate& top) {
        const Id left = static_cast<Id>(top.pair >> 32), right = static_cast<Id>(top.pair & 0xFFFFFFFF);
        // Two pairs can make the same token: "ab" + "c", "a" + "bc".
        const Id merged =
            add_token(spec_.vocab[static_cast<std::size_t>(left)] + spec_.vocab[static_cast<std::size_t>(right)]);
        lengths_[static_cast<std::size_t>(merged)] = length(left) + length(right);
        spec_.merges.push_back({left, right, merged});
        for (const std::uint32_t w : top.words) merge_in(w, left, right, merged);
        queue_changed();
    }

    void merge_in(std::uint32_t w, Id left, Id right, Id merged) {
        Word& word = words_[w];
        Id* const s = &symbols_[word.first];
        std::size_t out = 0;
        for (std::size_t in = 0; in < word.length; ++out) {
            if (in + 1 >= word.length || s[in] != left || s[in + 1] != right) {
                s[out] = s[in++];
                continue;
            }
            if (out > 0) {
                remove(pair_of(s[out - 1], left), word.count);
                add(s[out - 1], merged, word.count, w);
            }
            in += 2;
            if (in < word.length) {
                remove(pair_of(right, s[in]), word.count);
                add(merged, s[in], word.count, w);
            }
            s[out] = merged;
        }
        word.length = out;
    }

    // A pair is merged twice if another merge makes one of its tokens again. It keeps its last position.
    static void keep_last_of_equals(std::vector<Merge>& merges) {
        std::unordered_map<Pair, std::size_t> last;
        for (std::size_t i = 0; i < merges.size(); ++i) last[pair_of(merges[i].left, merges[i].right)] = i;
        std::vector<Merge> kept;
        for (std::size_t i = 0; i < merges.size(); ++i)
            if (last[pair_of(merges[i].left, merges[i].right)] == i) kept.push_back(merges[i]);
        merges = std::move(kept);
    }

    std::size_t vocab_size_;
    BpeSpec spec_;
    std::unordered_map<std::string, Id> ids_;
    std::vector<std::size_t> lengths_;  // by id, in bytes
    std::vector<Id> symbols_;
    std::vector<Word> words_;
    PairTable pairs_;
    std::vector<Pair> changed_;
    std::vector<Candidate> queue_;  // a heap
};

}  // namespace

BpeSpec train_bpe(std::span<const std::string_view> texts, std::size_t vocab_size, SplitStyle style) {
    check(vocab_size >= smallest_bpe_vocab && vocab_size < 0x7FFFFFFF,
          "train_bpe: the vocabulary must have at least {} tokens, {} and the 256 bytes, got {}", smallest_bpe_vocab,
          end_of_text_token, vocab_size);
    const PreTokenizerSpec pre_tokenizer = pre_tokenizer_of(style);
    BpeSpec spec = Training(count_pieces(texts, pre_tokenizer), vocab_size).run();
    spec.pre_tokenizer = pre_tokenizer;
    spec.added.push_back({.content = end_of_text_token, .id = 0});
    return spec;
}

}  // namespace inkling::data
