#include "data/tokenizers/bpe/bpe_tokenizer.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/parallel.h"
#include "formats/named.h"

namespace inkling::data {

namespace {

constexpr std::size_t task_size = 1 << 18;   // bytes that one thread encodes at once
constexpr std::size_t batch_size = 1 << 24;  // bytes that all threads encode before their ids are passed on

// The special tokens that end a text in known models, in order of preference.
constexpr std::string_view ends_of_text[] = {end_of_text_token, "<|end_of_text|>", "</s>", "<eos>",
                                             "<\uFF5Cend\u2581of\u2581sentence\uFF5C>"};

std::vector<AddedToken> normalized_contents(std::vector<AddedToken> tokens, const std::vector<NormalizerStep>& steps) {
    for (AddedToken& token : tokens)
        if (token.normalized) token.content = normalized(token.content, steps);
    return tokens;
}

}  // namespace

BpeTokenizer::BpeTokenizer(BpeSpec spec)
    : spec_(std::move(spec)),
      added_(normalized_contents(spec_.added, spec_.normalizer)),
      pre_tokenizer_(spec_.pre_tokenizer),
      model_(spec_),
      texts_(model_.take_bytes()),
      joins_(spec_.decoder == std::vector<DecoderStep>{{}}) {
    for (const AddedToken& token : added_.list()) {
        const auto id = static_cast<std::size_t>(token.id);
        if (id >= texts_.size()) texts_.resize(id + 1);
        texts_[id] = token.content;
    }
    for (const std::string_view end : ends_of_text)
        for (const AddedToken& token : spec_.added)
            if (token.special && token.content == end && !end_of_text_) end_of_text_ = token.id;
    // A cut lies after a letter and before white space. It must not split an added token or white space that it takes.
    const auto& added = added_.list();
    may_be_cut_ = pre_tokenizer_.may_be_cut() && data::may_be_cut(spec_.normalizer) &&
                  std::none_of(added.begin(), added.end(), [](const AddedToken& token) {
                      return token.rstrip || gpt2_safe_cut(token.content, 0) < token.content.size();
                  });
}

std::optional<std::int32_t> BpeTokenizer::end_of_text() const {
    const auto end = named.ids.find("eos");
    return end_of_text_ || end == named.ids.end() ? end_of_text_ : end->second;
}

// Calls full(ids) whenever `ids` has become large; the rest stays in `ids`.
void BpeTokenizer::encode_task(BpeModel::Encoder& encoder, PreTokenizer::Scan& scan, const Task& task,
                               std::vector<std::int32_t>& ids, const TakeIds& full) const {
    const BytePairs::Between hand_over = [&] {
        if (!full || ids.size() < task_size) return;
        full(ids, task.begin);
        ids.clear();
    };
    scan.pieces(task.text, task.first, [&](std::string_view piece) {
        for (std::size_t at = 0; at < piece.size();) {
            const std::size_t end = model_.may_be_cut() ? BpeModel::cut_before(piece, at + 1) : piece.size();
            encoder.append_ids(piece.substr(at, end - at), ids, hand_over);
            hand_over();
            at = end;
        }
    });
    if (task.id >= 0) ids.push_back(task.id);
}

// A single task may be a whole text that cannot be cut: its ids are passed on while it is encoded. The ids of several
// tasks are passed on in order, after all are encoded.
void BpeTokenizer::encode_tasks(std::span<const Task> all, const TakeIds& take) const {
    if (all.size() == 1) {
        std::vector<std::int32_t> ids;
        ids.reserve(std::min(all[0].text.size(), task_size) / 3 + 1);
        BpeModel::Encoder encoder(model_, caches_->take());
        PreTokenizer::Scan scan(pre_tokenizer_);
        encode_task(encoder, scan, all[0], ids, take);
        caches_->give_back(encoder.take_cache());
        return take(ids, all[0].end);
    }
    std::size_t bytes = 0;
    for (const Task& task : all) bytes += task.text.size();
    std::vector<std::vector<std::int32_t>> parts(all.size());  // filled at the first task of each range
    std::vector<std::size_t> ends(all.size());
    parallel_for(all.size(), bytes > task_size ? 1 : all.size(), [&](std::size_t begin, std::size_t end) {
        BpeModel::Encoder encoder(model_, caches_->take());
        PreTokenizer::Scan scan(pre_tokenizer_);
        for (std::size_t i = begin; i < end; ++i) encode_task(encoder, scan, all[i], parts[begin], nullptr);
        caches_->give_back(encoder.take_cache());
        ends[begin] = all[end - 1].end;
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!parts[i].empty()) take(parts[i], ends[i]);
        parts[i] = {};
    }
}

// Tasks to encode together.
class BpeTokenizer::Batch {
  public:
    Batch(const BpeTokenizer& tokenizer, const TakeIds& take) : tokenizer_(tokenizer), take_(take) {}

    void add(const Task& task) {
        const bool large = task.text.size() > batch_size;  // encoded alone: see encode_tasks
        if (large) encode();
        tasks_.push_back(task);
        bytes_ += task.text.size();
        if (large || bytes_ >= batch_size || tasks_.size() >= task_size) encode();
    }

    void encode() {
        if (!tasks_.empty()) tokenizer_.encode_tasks(tasks_, take_);
        tasks_.clear();
        bytes_ = 0;
    }

  private:
    const BpeTokenizer& tokenizer_;
    const TakeIds& take_;
    std::vector<Task> tasks_;
    std::size_t bytes_ = 0;
};

// The first place at or after `from` where a normalized text may be cut for threads.
std::size_t BpeTokenizer::cut(std::string_view normalized, std::size_t from) const {
    if (from >= normalized.size()) return normalized.size();
    if (pre_tokenizer_.may_be_cut()) return gpt2_safe_cut(normalized, from);
    if (spec_.pre_tokenizer.steps.empty() && model_.may_be_cut()) return BpeModel::cut_before(normalized, from);
    return normalized.size();
}

// `special`: finds special tokens in the text, not only the other added tokens.
void BpeTokenizer::encode(std::string_view text, const TakeIds& take, bool special, bool begins) const {
    Batch batch(*this, take);
    // `part` is text[begin, end), or its normalized form.
    const auto add_part = [&](std::string_view part, std::size_t begin, std::size_t end, const auto& owner) {
        const auto place = [&](std::size_t at) { return at == part.size() ? end : begin + std::min(at, end - begin); };
        for (std::size_t at = 0; at < part.size();) {
            const std::size_t next = cut(part, at + task_size);
            batch.add({part.substr(at, next - at), -1, begins && begin == 0 && at == 0, place(at), place(next), owner});
            at = next;
        }
    };
    const auto place_of = [](std::string_view whole, std::string_view part) {
        return static_cast<std::size_t>(part.data() - whole.data());
    };
    const auto add_text = [&](std::string_view raw) {
        const std::size_t begin = place_of(text, raw), end = begin + raw.size();
        std::shared_ptr<const std::string> owner;
        if (!spec_.normalizer.empty()) owner = std::make_shared<const std::string>(normalized(raw, spec_.normalizer));
        const std::string_view whole = owner ? *owner : raw;
        added_.cut_normalized(whole, special, [&](std::string_view part, std::int32_t id) {
            const std::size_t from = std::min(end, begin + place_of(whole, part));
            const std::size_t to = part.end() == whole.end() ? end : std::min(end, from + part.size());
            id >= 0 ? batch.add({{}, id, false, to, to}) : add_part(part, from, to, owner);
        });
    };
    formats::named(origin, [&] {
        added_.cut_raw(text, special, [&](std::string_view part, std::int32_t id) {
            const std::size_t end = place_of(text, part) + part.size();
            if (id >= 0) return batch.add({{}, id, false, end, end});
            const bool cuts =
                may_be_cut_ && !spec_.normalizer.empty();  // so that a part of the text is copied at a time
            for (std::string_view rest = part; !rest.empty();) {
                const std::size_t size = cuts ? gpt2_safe_cut(rest, task_size) : rest.size();
                add_text(rest.substr(0, size));
                rest.remove_prefix(size);
            }
        });
        batch.encode();
    });
}

bool BpeTokenizer::is_special(std::int32_t id) const {
    const auto& all = added_.list();
    return std::any_of(all.begin(), all.end(), [&](const AddedToken& t) { return t.id == id && t.special; });
}

std::string BpeTokenizer::decode(std::span<const std::int32_t> ids, bool begins) const {
    std::string bytes;
    std::vector<std::string> tokens;
    joins_ ? bytes.reserve(4 * ids.size()) : tokens.reserve(ids.size());
    for (const std::int32_t id : ids) {
        const auto at = static_cast<std::size_t>(id);
        check<BadInput>(id >= 0 && at < texts_.size(), "token ids must be in [0, {}), got {}", texts_.size(), id);
        joins_ ? static_cast<void>(bytes += texts_[at]) : tokens.push_back(texts_[at]);
    }
    return joins_ ? bytes : decoded(std::move(tokens), spec_.decoder, begins);
}

std::vector<std::int32_t> BpeTokenizer::ids_of(const std::vector<SpecialToken>& special_tokens) {
    std::vector<std::int32_t> ids;
    for (const SpecialToken& mark : special_tokens) ids.insert(ids.end(), mark.ids.begin(), mark.ids.end());
    return ids;
}

}  // namespace inkling::data
